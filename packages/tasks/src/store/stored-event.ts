import { isRecord, isTaskEventType, TASK_EVENTS, type TaskEvent } from "@flint/protocol";

/** An event of a task as a file or a database holds it; undefined if it cannot be one. */
export function readStoredEvent(value: unknown): TaskEvent | undefined {
  if (!isRecord(value) || typeof value.type !== "string" || !isTaskEventType(value.type)) return undefined;
  if (typeof value.version !== "number" || typeof value.at !== "number") return undefined;
  if (!TASK_EVENTS[value.type].data.safeParse(value.data).success) return undefined;
  // Its name, data, version and time were just checked.
  return value as unknown as TaskEvent;
}
