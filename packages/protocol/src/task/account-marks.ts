import type { TaskEvent } from "./task-events.ts";
import { type Role, reviewModeOf } from "./task-spec.ts";
import type { AccountMark, AccountMarks, TaskState } from "./task-state.ts";

/** The role whose turn a task has next or has now, and the agents that can have it, the current one first. */
export function nextRole({ spec, step, executor, reviewer }: TaskState): {
  readonly role: "executor" | "reviewer";
  readonly at: number;
  readonly agents: readonly Role[];
} {
  // Where all have to approve, none takes over from another.
  const last = reviewModeOf(spec) === "all" ? reviewer + 1 : undefined;
  return step === "review"
    ? { role: "reviewer", at: reviewer, agents: spec.reviewers.slice(reviewer, last) }
    : { role: "executor", at: executor, agents: spec.executors.slice(executor) };
}

/**
 * The accounts that a role works with, as far as they are known before its turn: that of its agent, and that of its model,
 * which may have a limit of its own.
 */
export function accountsOfRole({ model = "" }: Role): readonly [agent: string, model: string] {
  const [agent = ""] = model.split("/");
  return [agent, model.includes("/") ? model : `${model}/`];
}

/** The marks of a task after one more event. */
export function marksAfter(state: TaskState, event: TaskEvent): AccountMarks {
  const { at } = event;
  switch (event.type) {
    case "run/leased":
      return mapMarks(state.accounts, (mark) => ({ ...mark, startedAt: undefined }));
    case "round/turn":
      return marked(state, (mark) => ({ ...mark, startedAt: at }));
    case "round/executed":
    case "round/reviewed":
      return marked(state, (mark) => ({ ...mark, passedAt: mark.startedAt ?? at }));
    case "run/used":
      return event.data.limit === undefined
        ? state.accounts
        : limited(state, event.data.limit, event.data.limit.resetsAtMs, at);
    case "task/suspended":
      return event.data.reason === "usageLimit"
        ? limited(state, event.data.limit, event.data.untilMs, at)
        : state.accounts;
    case "task/resumed":
      return event.data.by === "scheduler" ? state.accounts : tried(state, at);
    case "task/answered":
    case "task/retried":
      return tried(state, at);
    default:
      return state.accounts;
  }
}

/** The marks with those of the accounts of the current turn changed. */
function marked(state: TaskState, change: (mark: AccountMark) => AccountMark): AccountMarks {
  const [role] = nextRole(state).agents;
  if (role === undefined) return state.accounts;
  const changed = accountsOfRole(role).map((name) => [name, change(state.accounts[name] ?? {})]);
  return { ...state.accounts, ...Object.fromEntries(changed) };
}

/** A limit of one model does not keep the others of its agent from working. */
function limited(
  state: TaskState,
  limit: { readonly model?: string | undefined } | undefined,
  untilMs: number | undefined,
  limitedAt: number,
): AccountMarks {
  const [role] = nextRole(state).agents;
  if (role === undefined) return state.accounts;
  const [agent, model] = accountsOfRole(role);
  const name = limit?.model === undefined ? agent : model;
  return { ...state.accounts, [name]: { ...state.accounts[name], limitedAt, untilMs } };
}

function tried(state: TaskState, at: number): AccountMarks {
  return mapMarks(state.accounts, (mark) => (mark.limitedAt === undefined ? mark : { ...mark, triedAt: at }));
}

function mapMarks(marks: AccountMarks, change: (mark: AccountMark) => AccountMark): AccountMarks {
  return Object.fromEntries(Object.entries(marks).map(([name, mark]) => [name, change(mark)]));
}
