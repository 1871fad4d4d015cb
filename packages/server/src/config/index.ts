export {
  agentId,
  agentIds,
  agentLogins,
  type ConfiguredAgent,
  commandAgent,
  configuredAgents,
} from "./agents.ts";
export {
  choicesOf,
  describeKey,
  type EffectiveValue,
  effectiveConfig,
  FIXED_NAMES,
  typedValue,
} from "./effective-config.ts";
export {
  APPROVAL_NAMES,
  approvalPolicyNamed,
  ENFORCEMENTS,
  enforcementNamed,
  GIT_MODES,
  SANDBOX_NAMES,
  sandboxPolicyNamed,
} from "./keys/policy-names.ts";
export { CONFIG_KEYS, CONFIG_NAMES, namesBelow, rowNameOf } from "./keys/table.ts";
export { mcpServersOf } from "./mcp-servers.ts";
export {
  ConfigError,
  ConfigValues,
  checkedDocument,
  formatKey,
  isTable,
  parseKey,
  unknownKey,
} from "./parse.ts";
export {
  PERMISSION_MODES,
  PERMISSION_MODES_DOC,
  type PermissionMode,
  permissionMode,
  permissionModeDoc,
} from "./permission-modes.ts";
export { DEFAULT_POLICIES, modelOfAgent } from "./policies.ts";
export {
  findProgram,
  type OutsideProgram,
  outsideEnvironment,
  outsideProgram,
  outsideSearchPath,
} from "./programs.ts";
export { configuredOptions, nativeOptions } from "./server-config.ts";
export { mergedConfig, readSystemConfig, SYSTEM_CONFIG_PATH, type SystemConfig } from "./system-config.ts";
export { sessionKeymap, UserConfig } from "./user-config.ts";
