export { taskLogLine } from "./task-log.ts";
export {
  hasEnded,
  isMergeable,
  nextStep,
  reviewersText,
  roundChoice,
  roundOf,
  sortedTasks,
  statusOf,
  TASK_COLUMNS,
  taskCells,
  usageText,
} from "./task-status.ts";
