import { reduceTask, type TaskEventBody, type TaskSpec, type TaskState, type Verdict } from "@flint/protocol";
import type { DecisionContext, Events } from "../decide/decision.ts";
import { leased, startRound } from "../decide/run.ts";
import { testSpec } from "./spec.ts";

export const HASH = (digit: string) => digit.repeat(40);
export const NOW = 1_800_000_000_000;

/** A context in which nothing is left to chance. */
export const context: DecisionContext = { now: NOW, random: 0, id: () => "id-1" };

/** A task asks the user a question. */
export const ASKS: TaskEventBody = {
  type: "task/asking",
  data: { ask: { id: "ask-1", reason: "question", message: "Which port?" } },
};

/** The state after these events. */
export function after(state: TaskState | undefined, events: Events): TaskState {
  let next = state;
  for (const body of events) {
    const event = { ...body, version: (next?.version ?? 0) + 1, at: NOW };
    next = reduceTask("task-1", next, event);
  }
  if (next === undefined) throw new Error("No event gives no state");
  return next;
}

/** A task that was just added. */
export function added(change: Partial<TaskSpec> = {}): TaskState {
  const data = { spec: testSpec(change), number: 1, by: "alice", waiting: false };
  return after(undefined, [{ type: "task/added", data }]);
}

/** A task whose executor's turn runs. */
export function executing(change: Partial<TaskSpec> = {}): TaskState {
  const run = { runId: "run-1", worker: "w1", fence: 1, leaseId: "lease-1" };
  const prepared: TaskEventBody = { type: "round/prepared", data: { base: HASH("0"), folder: "/worktree" } };
  const ready = after(added(change), [...leased(run), prepared]);
  return after(ready, startRound(ready, context));
}

/** The next run of a task that is ready. */
export function resumedRun({ fence }: TaskState): Events {
  return leased({ runId: `run-${fence + 1}`, worker: "w1", fence: fence + 1, leaseId: `lease-${fence + 1}` });
}

/** A turn that met a usage limit. */
export function atLimit(resetsAtMs: number, more: { readonly model?: string } = {}) {
  const limit = { agent: "claude", window: "5 hours", status: "reached", source: "frame", ...more } as const;
  return {
    kind: "limit",
    limit: { ...limit, reportedAtMs: NOW, resetsAtMs },
    usage: { seconds: 1 },
  } as const;
}

/** An executor's turn that changed something. */
export function completed(tree = HASH("a"), contested: { id: string; why: string }[] = []) {
  const turn = { threadId: "thread-1", turnId: "turn-1" };
  const usage = { seconds: 10 };
  return { kind: "completed", turn, commit: tree, tree, changed: true, contested, usage } as const;
}

/** A reviewer's verdict. */
export function judged(change: Partial<Verdict>, onChangedLines: readonly number[] = []) {
  const verdict: Verdict = { verdict: "reject", summary: "", findings: [], earlier: [], ...change };
  return { kind: "judged", verdict, usage: { seconds: 5 }, onChangedLines: new Set(onChangedLines) } as const;
}
