export { isSecretName } from "@flint/core/redact";
export { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";
export type { Sign } from "./folder-signs.ts";
export type { GuardedPlaces } from "./guarded-paths.ts";
export { signListening, workedIn } from "./listening-signs.ts";
export type { MechanismName } from "./mechanism.ts";
export { PROTECTED_NAMES } from "./protected-names.ts";
