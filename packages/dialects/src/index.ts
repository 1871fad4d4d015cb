export { Connection } from "./connection.ts";
export type { CoreCall, Dialect, Inbound, Outbound } from "./dialect.ts";
export { Door } from "./door.ts";
