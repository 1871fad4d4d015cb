import { isRecord, type TaskEvent, taskEventOf } from "@flint/protocol";

/** An event of a task as a file or a database holds it; undefined if it cannot be one. */
export function readStoredEvent(value: unknown): TaskEvent | undefined {
  if (!isRecord(value)) return undefined;
  const { type, data, version, at } = value;
  if (typeof type !== "string" || typeof version !== "number" || typeof at !== "number") return undefined;
  const body = taskEventOf(type, data);
  return body === undefined ? undefined : { ...body, version, at };
}
