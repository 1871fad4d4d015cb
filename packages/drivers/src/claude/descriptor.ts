import { ALL_CAPABILITIES } from "@flint/core/ports";
import { type AgentDescriptor, CLAUDE_HOSTS, CLAUDE_KEYS } from "../shared/agent.ts";
import { CLAUDE_PACKAGE } from "../shared/agent-packages.ts";
import { CLAUDE_FOLDER } from "../shared/folders/agent-folders.ts";
import { CLAUDE_PROJECT } from "../shared/folders/project-files.ts";

/** Claude Code, driven by its own stream-json protocol. */
export const CLAUDE = {
  id: "claude",
  displayName: "Claude Code",
  provider: "anthropic",
  capabilities: ALL_CAPABILITIES,
  command: ["claude"],
  executableVariable: "CLAUDE_CODE_EXECUTABLE",
  homeVariable: CLAUDE_FOLDER.movedBy.variable,
  ownVariables: /^(?:ANTHROPIC_|CLAUDE_)/,
  credentials: {
    variables: CLAUDE_KEYS,
    files: [".claude/.credentials.json"],
  },
  package: CLAUDE_PACKAGE,
  usedOptions: [
    ...["--input-format", "--output-format", "--include-partial-messages", "--replay-user-messages"],
    ...["--permission-mode", "--strict-mcp-config", "--setting-sources", "--settings"],
    ...["--append-system-prompt", "--resume", "--fork-session", "--session-id"],
  ],
  install: "npm install -g @anthropic-ai/claude-code",
  login: {
    command: "claude auth login",
    hint: "flint acp --login claude, or set ANTHROPIC_API_KEY",
    logout: "claude auth logout",
  },
  hosts: CLAUDE_HOSTS,
  usageReports: { tokens: "call", steps: "call", costUsd: "turn", usesPrices: true },
  passedSettings: [],
  project: CLAUDE_PROJECT,
  asksToWrite: true,
  stopsWhenIdle: true,
} as const satisfies AgentDescriptor;
