/** What a command needs to start a server and to stop it. */
export { composeEngine } from "./compose.ts";
export { WorkspacesOnDemand } from "./on-demand.ts";
export { redactErrors } from "./redact-errors.ts";
export { type StdioOptions, serveStdio } from "./serve-stdio.ts";
export type { AgentTraces, Durability, ServerOptions } from "./server-options.ts";
export { type Clients, endServer, signalled } from "./shutdown.ts";
