export { type DecisionContext, TaskRefusal } from "./decide/decision.ts";
export { type NoticeOptions, Notifier } from "./notices/notifier.ts";
export { GitPlaces } from "./run/git-places.ts";
export type { Places } from "./run/places.ts";
export { TaskRun } from "./run/task-run.ts";
export { TaskService, type TaskServiceOptions } from "./service/task-service.ts";
export { JournalStore } from "./store/journal-store.ts";
export { MemoryStore } from "./store/memory-store.ts";
export type { Lease, TaskStore, TaskWrite, WriteResult } from "./store/task-store.ts";
