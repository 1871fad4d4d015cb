export { taskLogLine } from "./task-log.ts";
export {
  hasEnded,
  inOrder,
  nextStep,
  roundOf,
  statusOf,
  TASK_COLUMNS,
  taskCells,
  usedBy,
} from "./task-status.ts";
