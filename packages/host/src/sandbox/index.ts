export { isSecretName } from "@flint/core/redact";
export { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";
export type { MechanismName } from "./mechanisms/launch.ts";
export type { GuardedLocations } from "./paths/guarded-paths.ts";
export { PROTECTED_NAMES } from "./paths/protected-names.ts";
export { findOuterProgram, type OuterProgram, outerSearchPath } from "./processes/search-path.ts";
export { announceListener, announcePort, busyFolder, type PresenceSocket } from "./sockets.ts";
