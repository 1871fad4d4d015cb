import { type TaskRow, type TaskState, taskRow } from "@flint/protocol";

/** The event that users are notified of. */
export type NoticeKind = "asking" | "approving" | "suspended" | "failed" | "done";

/** Something that the user should know about a task, wherever they are. */
export interface Notice {
  readonly kind: NoticeKind;
  /** One sentence. */
  readonly text: string;
  readonly task: TaskRow;
}

const KINDS: ReadonlySet<string> = new Set<NoticeKind>([
  "asking",
  "approving",
  "suspended",
  "failed",
  "done",
]);

/** Shorter waits pass before anybody has read the notice. */
const LONG_WAIT_MS = 3_600_000;

/** The notice for a task that has come from one state to another; undefined if there is nothing to say. */
export function noticeOf(before: TaskState["phase"] | undefined, state: TaskState): Notice | undefined {
  const { phase } = state;
  if (phase === before || !isNoticeKind(phase)) return undefined;
  const untilMs = state.suspended?.untilMs;
  if (phase === "suspended" && untilMs !== undefined && untilMs - state.updatedAt < LONG_WAIT_MS)
    return undefined;
  return { kind: phase, text: `Task ${state.number} ${wordsOf(state, phase)}`, task: taskRow(state) };
}

function isNoticeKind(phase: string): phase is NoticeKind {
  return KINDS.has(phase);
}

function wordsOf({ spec, ask, suspended, error }: TaskState, kind: NoticeKind): string {
  const title = `(${spec.title})`;
  switch (kind) {
    case "asking":
      return `${title} asks you: ${ask?.message ?? ""}`;
    case "approving":
      return `${title} is done and needs your approval.`;
    case "suspended": {
      const until =
        suspended?.untilMs === undefined ? "" : ` until ${new Date(suspended.untilMs).toISOString()}`;
      return `${title} is suspended${until}: ${suspended?.message ?? suspended?.reason ?? ""}`;
    }
    case "failed":
      return `${title} failed: ${error ?? ""}`;
    case "done":
      return `${title} is done.`;
  }
}
