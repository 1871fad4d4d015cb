import type { AgentDescriptor } from "../shared/agent.ts";

/** Where Codex reaches its models and its login. */
export const CODEX_HOSTS: readonly string[] = ["api.openai.com", "auth.openai.com", "chatgpt.com"];

/** Codex, driven by its app-server protocol. One process serves many threads, so none is stopped for an idle thread. */
export const CODEX: AgentDescriptor = {
  id: "codex",
  displayName: "Codex",
  command: ["codex"],
  executableVariable: "CODEX_EXECUTABLE",
  ownVariables: /^(?:OPENAI_|CODEX_)/,
  credentials: { variables: ["OPENAI_API_KEY", "CODEX_API_KEY"], files: [".codex/auth.json"] },
  install: "npm install -g @openai/codex",
  login: { command: "codex login", hint: "codex login, or set OPENAI_API_KEY" },
  hosts: CODEX_HOSTS,
  asksToWrite: true,
  stopsWhenIdle: false,
};
