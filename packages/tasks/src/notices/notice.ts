import { shortened, type TaskRow, type TaskState, taskRow } from "@flint/protocol";
import { oneLine } from "@flint/view";

/** The event that users are notified of. */
export type NoticeKind = "asking" | "approving" | "suspended" | "failed" | "done";

/** Something that the user should know about a task, wherever they are. */
export interface Notice {
  readonly kind: NoticeKind;
  /** One sentence. Of what an agent wrote, control and invisible characters are shown as `\u{…}`: programs print it. */
  readonly text: string;
  readonly task: TaskRow;
}

/** Several notices as one message. */
export interface Digest {
  readonly kind: "digest";
  /** One sentence for each group of tasks. */
  readonly text: string;
  /** The number of notices, of which the first are listed. */
  readonly count: number;
  readonly notices: readonly {
    readonly kind: NoticeKind;
    readonly text: string;
    readonly taskId: string;
    readonly number: number;
  }[];
}

/** The most notices that a digest lists, and how much of each: a program gets them in its environment, which is small. */
const LISTED = 100;
const LISTED_CHARACTERS = 300;
/** The most tasks that a sentence names. */
const NAMED = 3;
const TITLE_CHARACTERS = 40;

/** The message for these notices: the only one itself, or all of them in one. */
export function messageOf(notices: readonly Notice[]): Notice | Digest | undefined {
  const [first, second] = notices;
  if (first === undefined || second === undefined) return first;
  return {
    kind: "digest",
    text: digestText(notices),
    count: notices.length,
    notices: notices.slice(0, LISTED).map(({ kind, text, task: { id: taskId, number } }) => {
      return { kind, text: shortened(text, LISTED_CHARACTERS), taskId, number };
    }),
  };
}

/** Joins notices into one text, beginning with those that need the user. */
function digestText(notices: readonly Notice[]): string {
  const groups: readonly [singular: string, plural: string, kinds: readonly NoticeKind[]][] = [
    ["needs you", "need you", ["asking", "approving"]],
    ["failed", "failed", ["failed"]],
    ["is suspended", "are suspended", ["suspended"]],
    ["is done", "are done", ["done"]],
  ];
  const sentences = groups.flatMap(([singular, plural, kinds]) => {
    const tasks = notices.filter(({ kind }) => kinds.includes(kind)).map(({ task }) => task);
    if (tasks.length === 0) return [];
    const names = tasks
      .slice(0, NAMED)
      .map(({ number, title }) => `#${number} ${shortened(oneLine(title), TITLE_CHARACTERS)}`);
    const more = tasks.length > NAMED ? [`and ${tasks.length - NAMED} more`] : [];
    const what = tasks.length === 1 ? `1 task ${singular}` : `${tasks.length} tasks ${plural}`;
    return [`${what}: ${[...names, ...more].join(", ")}.`];
  });
  return sentences.join(" ");
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
  const text = oneLine(`Task ${state.number} ${wordsOf(state, phase)}`);
  return { kind: phase, text, task: taskRow(state) };
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
