export { isSecretName } from "@flint/core/redact";
export { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";
export type { MechanismName } from "./mechanisms/mechanism.ts";
export type { GuardedPlaces } from "./paths/guarded-paths.ts";
export { PROTECTED_NAMES } from "./paths/protected-names.ts";
export type { Sign } from "./sockets/folder-presence.ts";
export { signListening, workedIn } from "./sockets/listening-presence.ts";
