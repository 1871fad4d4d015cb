export {
  type CommandWindow,
  type ConnectionEvent,
  describeDirectAttempt,
  describeRefusals,
  type ProxyError,
  type RefusedHost,
} from "./connection-log.ts";
export type { Connect, DialOptions, Resolve } from "./dial.ts";
export type { AskUser, NetworkAnswer, NetworkQuestion } from "./host-gate.ts";
export type { NamespaceTools } from "./namespace.ts";
export { type NodePrograms, writeNodePrograms } from "./node-programs.ts";
export type { ProxyLimits } from "./proxy.ts";
export { socketFilter } from "./seccomp.ts";
export {
  type CommandNetwork,
  type NetworkCommand,
  ThreadNetwork,
  type ThreadNetworkOptions,
} from "./thread-network.ts";
