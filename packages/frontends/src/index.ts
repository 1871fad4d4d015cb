export { ClientConnection, type ConnectionOptions } from "./shared/client-connection.ts";
export {
  type ClientRights,
  isTaskRight,
  LOCAL_RIGHTS,
  TASK_RIGHTS,
  type TaskRight,
} from "./shared/client-rights.ts";
export type { Client, ClientHandler, Frontend } from "./shared/frontend.ts";
