export {
  ClientConnection,
  type ClientRights,
  type ConnectionOptions,
  LOCAL_RIGHTS,
} from "./shared/client-connection.ts";
export type { Client, ClientHandler, Frontend } from "./shared/frontend.ts";
