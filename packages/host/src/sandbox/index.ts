export { isSecretName } from "@flint/core/redact";
export { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";
export type { MechanismName } from "./mechanisms/mechanism.ts";
export type { GuardedLocations } from "./paths/guarded-paths.ts";
export { PROTECTED_NAMES } from "./paths/protected-names.ts";
export type { PresenceSocket } from "./sockets/presence.ts";
export { announceListener, busyFolder } from "./sockets/presence.ts";
