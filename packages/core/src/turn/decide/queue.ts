import { FlintError, LIMITS, type QueuedInput } from "@flint/protocol";

type Queue = readonly QueuedInput[];

/** The queue with one more input at its end. */
export function enqueue(queue: Queue, input: QueuedInput): QueuedInput[] {
  if (queue.length >= LIMITS.queuedInputs) {
    const message = `The queue of the thread is full (${LIMITS.queuedInputs} inputs). Delete one first.`;
    throw new FlintError("overloaded", message, { limit: LIMITS.queuedInputs });
  }
  return [...queue, input];
}

/** One input of the queue, or an error that says which there are. */
export function findQueued(queue: Queue, id: string): QueuedInput {
  const found = queue.find((input) => input.id === id);
  if (found !== undefined) return found;
  const message = `The queue holds no input ${id}; it may have started already.`;
  throw new FlintError("queuedInputNotFound", message, { queuedInputIds: queue.map((input) => input.id) });
}

/** The queue without one input. */
export function dequeue(queue: Queue, id: string): QueuedInput[] {
  findQueued(queue, id);
  return queue.filter((input) => input.id !== id);
}

/** The queue with other content for one input. */
export function replaceQueued(queue: Queue, id: string, input: QueuedInput["input"]): QueuedInput[] {
  findQueued(queue, id);
  return queue.map((queued) => (queued.id === id ? { ...queued, input } : queued));
}

/** The queue in a new order, which names each input once. */
export function reorder(queue: Queue, ids: readonly string[]): QueuedInput[] {
  const wanted = new Set(ids);
  if (wanted.size !== ids.length || ids.length !== queue.length) {
    const message = `Name each of the ${queue.length} inputs of the queue exactly once.`;
    throw new FlintError("invalidParams", message, { queuedInputIds: queue.map((input) => input.id) });
  }
  return ids.map((id) => findQueued(queue, id));
}
