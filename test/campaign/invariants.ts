import { isEnded, reduceTask, type TaskEvent, type TaskState } from "@flint/protocol";
import { violations } from "../../packages/tasks/src/testing/violations.ts";
import type { LedgerLine } from "./ledger.ts";

/** Evidence that a campaign leaves behind. */
export interface Evidence {
  /** The tasks whose addition was acknowledged. */
  readonly acknowledged: readonly string[];
  /** The log of each task, as the server that added it has it. */
  readonly logs: ReadonlyMap<string, readonly TaskEvent[]>;
  readonly ledger: readonly LedgerLine[];
  /** Number of times that Redis lost everything. */
  readonly flushes: number;
  readonly leaseMs: number;
  /** The longest time that Redis was away, in which nothing can be put on offer. */
  readonly awayMs?: number | undefined;
}

/** Something that has to hold, what was seen of it, and where it was broken. */
export interface Invariant {
  readonly name: string;
  readonly seen: string;
  readonly breaches: readonly string[];
}

/** A run of a task, from its lease to the event that ended it. */
interface LoggedRun {
  readonly fence: number;
  readonly end: TaskEvent | undefined;
}

interface Judged {
  readonly id: string;
  readonly events: readonly TaskEvent[];
  readonly state: TaskState;
  readonly runs: readonly LoggedRun[];
}

/** Time after the end of a lease within which the task has to be on offer again. */
const BACK_AFTER_LEASE_MS = 15_000;

/** Judges a campaign. */
export function judge(evidence: Evidence): Invariant[] {
  const tasks = evidence.acknowledged.flatMap((id) => judged(id, evidence.logs.get(id) ?? []) ?? []);
  return [
    notLost(evidence, tasks),
    endedOnce(evidence, tasks),
    lostRunsReported(tasks),
    fencesHeld(evidence, tasks),
    backInTime(evidence, tasks),
  ];
}

function judged(id: string, events: readonly TaskEvent[]): Judged | undefined {
  let state: TaskState | undefined;
  const runs: LoggedRun[] = [];
  for (const event of events) {
    const before = state;
    state = reduceTask(id, state, event);
    if (event.type === "run/leased") runs.push({ fence: event.data.fence, end: undefined });
    const last = runs.at(-1);
    if (before?.run !== undefined && state.run === undefined && last !== undefined)
      runs[runs.length - 1] = { ...last, end: event };
  }
  return state === undefined ? undefined : { id, events, state, runs };
}

function notLost({ acknowledged }: Evidence, tasks: readonly Judged[]): Invariant {
  const there = new Set(tasks.map(({ id }) => id));
  return {
    name: "no acknowledged task is lost",
    seen: `${there.size} of ${acknowledged.length}`,
    breaches: acknowledged.filter((id) => !there.has(id)).map((id) => `${id} is gone`),
  };
}

/** A task whose end Redis lost before anybody else had seen it runs again: that is the most a flush may cost. */
function endedOnce({ ledger, flushes }: Evidence, tasks: readonly Judged[]): Invariant {
  const [done, asking] = [
    tasks.filter(({ state }) => isEnded(state)),
    tasks.filter(({ state }) => state.ask),
  ];
  const ends = countBy(ledger.filter(({ kind }) => kind === "end").map(({ task }) => task));
  const breaches = tasks.flatMap(({ id, events, state }) => [
    ...violations(id, events, state).map((problem) => `${id}: ${problem}`),
    ...(isEnded(state) || state.ask !== undefined ? [] : [`${id} is ${state.phase}`]),
    ...((ends.get(id) ?? 0) > 1 + flushes ? [`${id} ended ${ends.get(id)} times`] : []),
  ]);
  const reasons = [...new Set(asking.map(({ state }) => state.ask?.reason))].join(", ");
  const again = [...ends.values()].filter((count) => count > 1).length;
  const repeated = again === 0 ? "" : `, ${again} once more because Redis had lost the end`;
  return {
    name: "each task ends exactly once, or asks",
    seen: `${done.length} ended, ${asking.length} asking${reasons === "" ? "" : ` (${reasons})`}${repeated}`,
    breaches,
  };
}

function lostRunsReported(tasks: readonly Judged[]): Invariant {
  const runs = tasks.flatMap(({ id, runs: all }) => all.map((run) => ({ id, ...run })));
  const count = (type: string) => runs.filter(({ end }) => end?.type === type).length;
  return {
    name: "every lost run is reported",
    seen: `${runs.length} runs, ${count("run/lost")} lost, ${count("run/released")} given back`,
    breaches: runs
      .filter(({ end }) => end === undefined)
      .map(({ id, fence }) => `${id}: nothing says what became of the run under fence ${fence}`),
  };
}

/** Whatever was accepted of a run is in the log as its end, and one fence never lets two runs begin. */
function fencesHeld({ ledger, flushes }: Evidence, tasks: readonly Judged[]): Invariant {
  const refused = ledger.filter(({ kind }) => kind === "refused").length;
  const starts = countBy(ledger.filter(({ kind }) => kind === "start").map(runName));
  const twice = [...starts].filter(([, count]) => count > 1 + flushes);
  const ends = new Set(
    tasks.flatMap(({ id, runs }) =>
      runs.filter(({ end }) => end?.type === "task/ended").map(({ fence }) => runName({ task: id, fence })),
    ),
  );
  // What was accepted before Redis lost everything may be in no log.
  const accepted = flushes > 0 ? [] : ledger.filter(({ kind }) => kind === "end");
  const stale = accepted.filter((line) => !ends.has(runName(line)));
  return {
    name: "no write under an old fence is accepted",
    seen: `${refused} refused`,
    breaches: [
      ...twice.map(([run]) => `${run} began twice`),
      ...stale.map((line) => `${runName(line)} was accepted, but did not end the task`),
    ],
  };
}

function backInTime({ leaseMs, awayMs = 0 }: Evidence, tasks: readonly Judged[]): Invariant {
  const most = leaseMs + awayMs + BACK_AFTER_LEASE_MS;
  const waits = tasks.flatMap(({ id, events }) =>
    events.flatMap((event, index) => {
      // The last sign of life of the lost run.
      const before = events[index - 1];
      return event.type === "run/lost" && before !== undefined ? [{ id, took: event.at - before.at }] : [];
    }),
  );
  return {
    name: `a lost run is on offer again within ${most / 1000} s`,
    seen: `slowest ${(Math.max(0, ...waits.map(({ took }) => took)) / 1000).toFixed(1)} s`,
    breaches: waits.filter(({ took }) => took > most).map(({ id, took }) => `${id} took ${took} ms`),
  };
}

function runName({ task, fence }: Pick<LedgerLine, "task" | "fence">): string {
  return `${task} under fence ${fence}`;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
