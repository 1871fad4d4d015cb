import { approvalHandlers } from "./approval.ts";
import { branchHandlers } from "./branch.ts";
import { configHandlers } from "./config.ts";
import { goalHandlers } from "./goal.ts";
import type { FreeHandlers, ThreadHandlers } from "./handler.ts";
import { historyHandlers } from "./history.ts";
import { queueHandlers } from "./queue.ts";
import { threadHandlers } from "./thread.ts";
import { turnHandlers } from "./turn.ts";
import { workspaceHandlers } from "./workspace.ts";

/** The handler of every method. A method without one does not compile. */
export const HANDLERS: FreeHandlers & ThreadHandlers = {
  ...threadHandlers,
  ...historyHandlers,
  ...turnHandlers,
  ...goalHandlers,
  ...queueHandlers,
  ...branchHandlers,
  ...approvalHandlers,
  ...configHandlers,
  ...workspaceHandlers,
};
