export { type DecisionContext, type Events, TaskRefusal } from "./decide/decision.ts";
export { accountOf, due, nextDue, obstacle, plan } from "./schedule.ts";
export { findCycle, resolveSpec, type TaskRequest } from "./spec.ts";
export { MemoryStore } from "./store/memory-store.ts";
export type { Lease, TaskStore, TaskWrite, WriteResult } from "./store/task-store.ts";
