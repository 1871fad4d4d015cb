export { Connection } from "./connection.ts";
export type { Desk, DeskClient, DoorService, ServedDialect } from "./desk.ts";
export type { CoreCall, Dialect, Inbound, Outbound } from "./dialect.ts";
export { type AnyDialect, Door } from "./door.ts";
export { type ClientRights, LOCAL_RIGHTS } from "./rights.ts";
