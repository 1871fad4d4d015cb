import type { AgentDescriptor } from "../shared/agent.ts";

/** Where Claude reaches its models and its login. A cloud in between is asked about: others store data there, too. */
export const CLAUDE_HOSTS: readonly string[] = [
  ...["api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"],
];

/** Claude Code, driven by its own stream-json protocol. */
export const CLAUDE = {
  id: "claude",
  displayName: "Claude Code",
  command: ["claude"],
  executableVariable: "CLAUDE_CODE_EXECUTABLE",
  ownVariables: /^(?:ANTHROPIC_|CLAUDE_)/,
  credentials: {
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    files: [".claude/.credentials.json"],
  },
  install: "npm install -g @anthropic-ai/claude-code",
  login: { command: "claude auth login", hint: "claude auth login, or set ANTHROPIC_API_KEY" },
  hosts: CLAUDE_HOSTS,
  asksToWrite: true,
  stopsWhenIdle: true,
} as const satisfies AgentDescriptor;
