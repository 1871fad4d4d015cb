import { isEnded, type TaskSpec, type TaskState, type Verdict } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { after, atLimit, completed, context, executing, HASH, judged, NOW } from "../testing/task.ts";
import { aroundLimit } from "./interruptions.ts";
import { afterTurn, afterVerdict, startRound } from "./run.ts";

const REVIEWERS = [{ model: "codex" }, { model: "claude" }, { model: "gemini" }];
const major = { id: "F1", severity: "major", what: "loses data", file: "a.ts" } as const;

/** A task whose round is reviewed by two of these, or by as many as are given. */
function reviewing(reviews: "all" | "any", reviewers: TaskSpec["reviewers"] = REVIEWERS.slice(0, 2)) {
  const state = executing({ reviewers, reviews, approvedBy: "reviewer", merge: "squash", rounds: 2 });
  return after(state, afterTurn(state, completed(), context));
}

function verdict(state: TaskState, change: Partial<Verdict>): TaskState {
  return after(state, afterVerdict(state, judged(change), context));
}

/** The same task in the review of the next round. */
function nextReview(state: TaskState): TaskState {
  const started = after(state, startRound(state, context));
  return after(started, afterTurn(started, completed(HASH("b")), context));
}

const approve = { verdict: "approve" } as const;

describe("of several reviewers that have to approve", () => {
  test("each judges every round, and the last approval counts", () => {
    const first = verdict(reviewing("all"), approve);
    expect(first).toMatchObject({ step: "review", reviewer: 1 });
    expect(verdict(first, approve).step).toBe("merge");
  });

  test("one that rejects sends the round back after the others were asked too, with all findings", () => {
    const first = verdict(reviewing("all"), { findings: [major] });
    expect(first).toMatchObject({ step: "review", reviewer: 1 });
    const other = { ...major, file: "b.ts", what: "leaks" };
    const back = verdict(first, { findings: [other] });
    expect(back).toMatchObject({ step: "execute" });
    expect(back.findings.map(({ id, what, reviewers }) => [id, what, reviewers])).toEqual([
      ["F1", "loses data", [0]],
      ["F2", "leaks", [1]],
    ]);
    expect(nextReview(back)).toMatchObject({ step: "review", reviewer: 0 });
  });

  test("none settles the finding of another, and a finding of two is one", () => {
    const first = verdict(reviewing("all"), { findings: [major] });
    const both = verdict(first, { earlier: [{ id: "F1", state: "open" }] });
    expect(both.findings).toMatchObject([{ id: "F1", reviewers: [0, 1] }]);
    const settledByOne = verdict(nextReview(both), {
      ...approve,
      earlier: [{ id: "F1", state: "resolved" }],
    });
    expect(settledByOne.findings).toMatchObject([{ state: "open", reviewers: [1] }]);
    const settled = verdict(settledByOne, { ...approve, earlier: [{ id: "F1", state: "withdrawn" }] });
    expect(settled).toMatchObject({ step: "merge", findings: [{ state: "withdrawn" }] });
  });

  test("one that cannot judge is replaced by none: the user is asked", () => {
    const state = verdict(reviewing("all"), { verdict: "cannotJudge", summary: "no access" });
    expect(state).toMatchObject({ phase: "asking", reviewer: 0, ask: { reason: "cannotJudge" } });
  });

  test("one at its usage limit is waited for", () => {
    const state = reviewing("all");
    expect(aroundLimit(state, ({ model }) => model === "codex")).toBeUndefined();
    const suspended = after(state, afterVerdict(state, atLimit(NOW + 60_000), context));
    expect(suspended).toMatchObject({ phase: "suspended", reviewer: 0 });
  });

  test("one that rejects without a blocking finding is asked once more before the next", () => {
    const once = verdict(reviewing("all"), {});
    expect(once).toMatchObject({ step: "review", reviewer: 0 });
    const next = verdict(once, {});
    expect(next).toMatchObject({ step: "review", reviewer: 1 });
    expect(verdict(next, {})).toMatchObject({ step: "review", reviewer: 1 });
  });
});

describe("of several reviewers of which one approval is enough", () => {
  test("the next is asked only if one rejects, and its approval counts", () => {
    expect(verdict(reviewing("any"), approve).step).toBe("merge");
    const first = verdict(reviewing("any"), { findings: [major] });
    expect(first).toMatchObject({ step: "review", reviewer: 1 });
    expect(verdict(first, approve)).toMatchObject({
      step: "merge",
      findings: [{ state: "open", blocking: false }],
    });
  });

  test("all that reject send the round back, and the first judges the next one", () => {
    const first = verdict(reviewing("any"), { findings: [major] });
    const back = verdict(first, { earlier: [{ id: "F1", state: "open" }] });
    expect(back).toMatchObject({ step: "execute", findings: [{ reviewers: [0, 1], blocking: true }] });
    expect(nextReview(back).reviewer).toBe(0);
  });

  test("one that cannot judge passes to the next, and after the last the findings of the others count", () => {
    const skipped = verdict(reviewing("any"), { verdict: "cannotJudge", summary: "" });
    expect(skipped).toMatchObject({ step: "review", reviewer: 1 });
    expect(verdict(skipped, { verdict: "cannotJudge", summary: "" })).toMatchObject({ phase: "asking" });
    const rejected = verdict(reviewing("any"), { findings: [major] });
    expect(verdict(rejected, { verdict: "cannotJudge", summary: "" })).toMatchObject({ step: "execute" });
    expect(after(rejected, afterVerdict(rejected, atLimit(NOW + 60_000), context)).step).toBe("execute");
  });

  test("a blocker that one approval has overruled blocks again for the reviewer that repeats it", () => {
    const blocker = { ...major, severity: "blocker" } as const;
    const overruled = verdict(verdict(reviewing("any"), { findings: [blocker] }), approve);
    const sent = { by: "ann", comments: "Add a test", findings: [...overruled.findings] };
    const again = nextReview(after(overruled, [{ type: "task/rejected", data: sent }]));
    const repeated = verdict(again, { findings: [blocker] });
    expect(repeated).toMatchObject({ reviewer: 1, findings: [{ id: "F1", blocking: true, reviewers: [0] }] });
  });

  test("rounds stay bounded when all reject every time", () => {
    let state = reviewing("any", REVIEWERS);
    for (let asked = 0; asked < 6; asked += 1) {
      state = verdict(state, { findings: [{ ...major, id: `N${asked}`, severity: "blocker" }] });
      if (state.step === "execute" && state.phase === "running") state = nextReview(state);
    }
    expect(state).toMatchObject({ phase: "asking", ask: { reason: "rounds" } });
    expect(isEnded(state)).toBe(false);
  });
});
