export * from "./approval/action.ts";
export * from "./approval/approval.ts";
export * from "./approval/budget.ts";
export * from "./approval/declined.ts";
export * from "./approval/grant.ts";
export * from "./approval/grant-words.ts";
export * from "./approval/host-rules.ts";
export * from "./approval/permission.ts";
export * from "./approval/policy.ts";
export * from "./approval/private-addresses.ts";
export * from "./events.ts";
export * from "./flint.ts";
export * from "./harness.ts";
export * from "./items.ts";
export * from "./methods.ts";
export * from "./server/config.ts";
export * from "./server/rendezvous.ts";
export * from "./server/restored-files.ts";
export * from "./server/usage-limit.ts";
export * from "./task/account-marks.ts";
export * from "./task/published-event.ts";
export { reduceTask } from "./task/reduce-task.ts";
export * from "./task/task-events.ts";
export * from "./task/task-row.ts";
export * from "./task/task-spec.ts";
export * from "./task/task-state.ts";
export * from "./task/verdict.ts";
export { describeGoal, goalInstruction } from "./thread/agent-notes.ts";
export { subAgentCallOf } from "./thread/child-threads.ts";
export * from "./thread/client-tool.ts";
export * from "./thread/input.ts";
export {
  Allowance,
  CommandAction,
  FileUpdateChange,
  PlanEntry,
  PlanPriority,
  priorityOf,
} from "./thread/item-schemas.ts";
export * from "./thread/reduce-thread.ts";
export * from "./thread/thread.ts";
export { appendAt, planOf } from "./thread/thread-items.ts";
export * from "./thread/thread-state.ts";
export * from "./thread/usage.ts";
export * from "./wire/errors.ts";
export * from "./wire/ids.ts";
export { listOf, numberOf, parsedJson, stringOf } from "./wire/json-values.ts";
export * from "./wire/limits.ts";
export * from "./wire/loose-object.ts";
export { continues, previewOf, shortened } from "./wire/short-text.ts";
export * from "./wire/vocabulary.ts";
