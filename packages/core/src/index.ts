export type { ClientSession } from "./client-session.ts";
export { Engine } from "./engine.ts";
export * from "./ports/index.ts";
export { mcpServerSecrets, RedactedStream, Redactor, redact, secretsIn } from "./redact/index.ts";
export type { EngineOptions } from "./services.ts";
export type { AgentPermissions } from "./settings/agent-permissions.ts";
export type { SettingsLocks } from "./settings/settings-locks.ts";
export { parseSimpleCommand } from "./text/shell-words.ts";
export type { Subscriber } from "./thread/subscription.ts";
