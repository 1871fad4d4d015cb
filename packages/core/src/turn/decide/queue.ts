import { FlintError, LIMITS, type QueuedInput } from "@flint/protocol";

type Queue = readonly QueuedInput[];

/** Appends an input to the queue. Throws `overloaded` if it is full. */
export function enqueue(queue: Queue, input: QueuedInput): QueuedInput[] {
  if (queue.length >= LIMITS.queuedInputs) {
    const message = `The queue of the thread is full (${LIMITS.queuedInputs} inputs). Delete one first.`;
    throw new FlintError("overloaded", message, { limit: LIMITS.queuedInputs });
  }
  return [...queue, input];
}

/** Returns an input of the queue. Throws `queuedInputNotFound`, with the ids that there are. */
export function findQueued(queue: Queue, id: string): QueuedInput {
  const found = queue.find((input) => input.id === id);
  if (found !== undefined) return found;
  const message = `The queue holds no input ${id}; it may have started already.`;
  throw new FlintError("queuedInputNotFound", message, { queuedInputIds: queue.map((input) => input.id) });
}

/** Removes an input from the queue. */
export function dequeue(queue: Queue, id: string): QueuedInput[] {
  findQueued(queue, id);
  return queue.filter((input) => input.id !== id);
}

/** Replaces the content of an input in the queue. */
export function replaceQueued(queue: Queue, id: string, input: QueuedInput["input"]): QueuedInput[] {
  findQueued(queue, id);
  return queue.map((queued) => (queued.id === id ? { ...queued, input } : queued));
}

/** Reorders the queue; `ids` must name each input once. */
export function reorder(queue: Queue, ids: readonly string[]): QueuedInput[] {
  const unique = new Set(ids);
  if (unique.size !== ids.length || ids.length !== queue.length) {
    const message = `Name each of the ${queue.length} inputs of the queue exactly once.`;
    throw new FlintError("invalidParams", message, { queuedInputIds: queue.map((input) => input.id) });
  }
  return ids.map((id) => findQueued(queue, id));
}
