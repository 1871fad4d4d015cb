export {
  agentId,
  agentLogins,
  type ConfiguredAgent,
  commandAgent,
  configuredAgents,
  findProgram,
} from "./agents.ts";
export { CONFIG_KEYS, CONFIG_NAMES, namesBelow, rowNameOf } from "./keys.ts";
export { mcpServersOf } from "./mcp-servers.ts";
export { nearest } from "./nearest.ts";
export { ConfigError, ConfigValues, checkedDocument, isTable, unknownKey } from "./parse.ts";
export { DEFAULT_POLICIES } from "./policies.ts";
export { APPROVAL_NAMES, approvalPolicyNamed, SANDBOX_NAMES, sandboxPolicyNamed } from "./policy-names.ts";
export { configuredOptions, nativeOptions } from "./server-config.ts";
export { UserConfig } from "./user-config.ts";
