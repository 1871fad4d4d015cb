import type { HarnessThread, HarnessTurn, Thread, Turn, TurnStatus } from "@flint/protocol";

const STATUS: Readonly<Record<TurnStatus, HarnessTurn["status"]>> = {
  inProgress: "running",
  completed: "completed",
  interrupted: "cancelled",
  failed: "error",
};

/** A thread in the words of this wire; its title is its name, or else how it began. */
export function threadOf(thread: Thread): HarnessThread {
  return {
    threadId: thread.id,
    title: thread.name ?? thread.preview,
    directory: thread.cwd,
    time: { created: thread.createdAt * 1000, updated: thread.updatedAt * 1000 },
  };
}

/** A turn in the words of this wire; `at` is when it was told, for a turn that does not know its times. */
export function turnOf(threadId: string, turn: Turn, at: number): HarnessTurn {
  const status = STATUS[turn.status];
  const ended = status === "running" ? undefined : (turn.completedAtMs ?? at);
  const started = turn.startedAtMs ?? (ended ?? at) - (turn.durationMs ?? 0);
  const time = ended === undefined ? { started } : { started, completed: ended };
  return { turnId: turn.id, threadId, status, time };
}
