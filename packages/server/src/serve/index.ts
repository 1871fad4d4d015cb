export { composeEngine } from "../compose.ts";
export type { FleetOptions, RunningWorker, WorkerSettings } from "../fleet/fleet-options.ts";
export type { AgentTraces, Durability, ServerOptions } from "../server-options.ts";
export { redactErrors, type StdioOptions, serveStdio } from "./serve-stdio.ts";
export { releaseMemoryOnce, type ServedClients, signalled, stopServer } from "./shutdown.ts";
