import type { TaskEvent, TaskEventBody } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { testSpec } from "../../packages/tasks/src/testing/spec.ts";
import { type Evidence, judge } from "./invariants.ts";
import type { LedgerLine } from "./ledger.ts";

const added: TaskEventBody = {
  type: "task/added",
  data: { spec: testSpec(), number: 1, by: "ann", waiting: false },
};
const leased = (fence: number): TaskEventBody => ({
  type: "run/leased",
  data: { runId: `r${fence}`, worker: `w${fence}`, fence, leaseId: `l${fence}` },
});
const lost = (fence: number): TaskEventBody => ({
  type: "run/lost",
  data: { runId: `r${fence - 1}`, worker: `w${fence - 1}`, fence },
});
const ended: TaskEventBody = { type: "task/ended", data: { status: "done" } };
const GOOD = [added, leased(1), lost(2), leased(3), ended];
const LINES: readonly LedgerLine[] = [
  { kind: "start", task: "a", fence: 1 },
  { kind: "start", task: "a", fence: 3 },
  { kind: "refused", task: "a", fence: 1 },
  { kind: "end", task: "a", fence: 3 },
];

function log(bodies: readonly TaskEventBody[], step = 1000): TaskEvent[] {
  return bodies.map((body, index) => ({ ...body, version: index + 1, at: index * step }));
}

/** The breaches of a campaign with one task. */
function breaches(change: Partial<Evidence>): string[] {
  const evidence = {
    ...{ acknowledged: ["a"], logs: new Map([["a", log(GOOD)]]), ledger: LINES, flushes: 0, leaseMs: 1500 },
  };
  return judge({ ...evidence, ...change }).flatMap((invariant) => invariant.breaches);
}

const withLog = (bodies: readonly TaskEventBody[], step?: number) => ({
  logs: new Map([["a", log(bodies, step)]]),
  ledger: [],
});
const withLine = (kind: LedgerLine["kind"], fence: number) => ({
  ledger: [...LINES, { kind, task: "a", fence }],
});

describe("a campaign is judged by its logs and its ledger", () => {
  test("accepts lost runs that were reported", () => {
    expect(breaches({})).toEqual([]);
  });

  test.each<[string, Partial<Evidence>, string]>([
    ["a task that is gone", { logs: new Map(), ledger: [] }, "a is gone"],
    ["a task that is still ready", withLog([added, leased(1), lost(2)]), "a is ready"],
    ["a run of which nothing more is said", withLog([added, leased(1)]), "the run under fence 1"],
    [
      "a run that is lost without a word",
      withLog([added, leased(1), leased(3), ended]),
      "leased while leased",
    ],
    [
      "a fence that did not rise",
      withLog([added, leased(1), lost(2), leased(1), ended]),
      "fence did not rise",
    ],
    ["events after the end", withLog([...GOOD, leased(4), ended]), "after the end"],
    ["an end under an old fence", withLine("end", 1), "a under fence 1 was accepted"],
    ["two ends", withLine("end", 3), "a ended 2 times"],
    ["two runs under one fence", withLine("start", 3), "a under fence 3 began twice"],
    ["a run that is offered again too late", withLog(GOOD, 17_000), "took 17000 ms"],
  ])("and %s is found", (_what, change, breach) => {
    expect(breaches(change)).toContainEqual(expect.stringContaining(breach));
  });

  test("and a task that ran again because Redis had lost its end is no breach", () => {
    expect(breaches({ ...withLine("end", 1), flushes: 1 })).toEqual([]);
  });
});
