export type { ClientSession } from "./client-session.ts";
export { Engine } from "./engine.ts";
export * from "./ports/index.ts";
export { RedactedStream, Redactor, redact } from "./redact.ts";
export { secretsIn } from "./sandbox/environment.ts";
export { keysOfServer } from "./server-keys.ts";
export type { EngineOptions } from "./services.ts";
export { parseSimpleCommand } from "./simple-command.ts";
export type { Follower } from "./subscription.ts";
