import { ALL_CAPABILITIES } from "@flint/core/ports";
import { type AgentDescriptor, CODEX_HOSTS } from "../shared/agent.ts";
import { CODEX_PACKAGE } from "../shared/agent-packages.ts";
import { CODEX_FOLDER } from "../shared/folders/agent-folders.ts";
import { CODEX_PROJECT } from "../shared/folders/project-files.ts";

/** Variables for keys, which Codex gets only if its configuration names them. */
export const CODEX_KEYS: readonly string[] = ["OPENAI_API_KEY", "CODEX_API_KEY"];

/** Codex, driven by its app-server protocol. One process serves many threads, so none is stopped for an idle thread. */
export const CODEX: AgentDescriptor = {
  id: "codex",
  displayName: "Codex",
  provider: "openai",
  capabilities: ALL_CAPABILITIES,
  command: ["codex"],
  executableVariable: "CODEX_EXECUTABLE",
  homeVariable: CODEX_FOLDER.movedBy.variable,
  ownVariables: /^(?:OPENAI_|CODEX_)/,
  // As an app server it takes no key from the environment (0.166.0, November 2026).
  credentials: { variables: [], files: [".codex/auth.json"] },
  package: CODEX_PACKAGE,
  install: "npm install -g @openai/codex",
  login: { command: "codex login", hint: "flint acp --login codex" },
  hosts: CODEX_HOSTS,
  usageReports: { tokens: "call", steps: "call", costUsd: "never", usesPrices: true },
  passedSettings: ["summary", "personality"],
  project: CODEX_PROJECT,
  asksToWrite: true,
  stopsWhenIdle: false,
};
