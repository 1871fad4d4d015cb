export { ClientConnection, type ConnectionOptions } from "./shared/client-connection.ts";
export { type ClientRights, LOCAL_RIGHTS } from "./shared/client-rights.ts";
export type { Client, ClientHandler, Frontend } from "./shared/frontend.ts";
