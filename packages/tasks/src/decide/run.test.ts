import type { Role } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { added, after, completed, context, executing, HASH, judged, NOW } from "../testing/task.ts";
import { aroundLimit } from "./interruptions.ts";
import {
  afterChecks,
  afterLost,
  afterMerge,
  afterPrepare,
  afterTurn,
  afterVerdict,
  startRound,
} from "./run.ts";

const major = { id: "x", severity: "major", what: "loses data" } as const;
const minor = { id: "x", severity: "minor", what: "a typo" } as const;

/** A task in review. */
function reviewing(change: Parameters<typeof executing>[0] = {}) {
  const state = executing(change);
  return after(state, afterTurn(state, completed(), context));
}

/** A task in the review of its second round, with one open finding. */
function secondReview() {
  const first = reviewing();
  const rejected = after(first, afterVerdict(first, judged({ findings: [major] }), context));
  const started = after(rejected, startRound(rejected, context));
  return after(started, afterTurn(started, completed(HASH("b")), context));
}

describe("the executor's turn", () => {
  test("goes to the checks if there are any, and otherwise to the review", () => {
    expect(reviewing().step).toBe("review");
    expect(reviewing({ checks: [{ command: "npm test" }] }).step).toBe("check");
  });

  test("leaves what was said while it ran to the next turn", () => {
    const before = { steerId: "s1", by: "ann", content: "before", live: false };
    const ready = after(reviewing(), [{ type: "task/steered", data: before }]);
    const started = after(ready, startRound(ready, context));
    const during = { ...before, steerId: "s2", content: "during" };
    const steered = after(started, [{ type: "task/steered", data: during }]);
    const next = after(steered, afterTurn(steered, completed(HASH("b")), context));
    expect(next.instructions).toEqual(["during"]);
  });

  test("that changed nothing asks the user immediately", () => {
    const state = executing();
    const next = after(state, afterTurn(state, { ...completed(), changed: false }, context));
    expect(next).toMatchObject({ phase: "asking", ask: { reason: "unchanged" }, step: "execute" });
  });

  test("gets its own idempotency key with every lease", () => {
    const state = executing();
    const again = after(state, [
      ...afterLost(state, 2, context),
      { type: "run/leased", data: { runId: "r2", worker: "w2", fence: 3, leaseId: "l2" } },
    ]);
    const retried = after(again, startRound(again, context));
    expect(retried.rounds).toHaveLength(1);
    expect(retried.rounds[0]?.clientId).not.toBe(state.rounds[0]?.clientId);
  });

  test("does not start once a limit is reached", () => {
    const state = { ...executing(), usage: { ...executing().usage, seconds: 7200 } };
    expect(startRound(state, context)).toMatchObject([
      { type: "task/asking", data: { ask: { reason: "budget" } } },
    ]);
  });

  test("that fails is passed to the next executor, then to a new attempt, and then the task fails", () => {
    const failed = { kind: "failed", message: "exited with 1", usage: { seconds: 1 } } as const;
    const state = executing({ executors: [{ model: "claude" }, { model: "codex" }], attempts: 2 });
    const fallback = after(state, afterTurn(state, failed, context));
    expect(fallback).toMatchObject({ phase: "running", executor: 1 });
    const over = after(fallback, afterTurn(fallback, failed, context));
    expect(over).toMatchObject({ phase: "ready", attempt: 2, step: "prepare", executor: 0 });
    const single = executing({ attempts: 1 });
    expect(after(single, afterTurn(single, failed, context))).toMatchObject({
      phase: "failed",
      error: "exited with 1",
    });
  });

  test("that fails in a later round is tried again from the commit of the last one", () => {
    const failed = { kind: "failed", message: "exited with 1", usage: { seconds: 1 } } as const;
    const first = reviewing({ attempts: 2 });
    const rejected = after(first, afterVerdict(first, judged({ findings: [major] }), context));
    const second = after(rejected, startRound(rejected, context));
    expect(afterTurn(second, failed, context)).toContainEqual({
      type: "attempt/started",
      data: { attempt: 2, from: HASH("a") },
    });
  });

  test("at a usage limit suspends the task until a little after the reset", () => {
    const limit = {
      agent: "claude",
      window: "5 hours",
      status: "reached",
      source: "frame",
      reportedAtMs: NOW,
      resetsAtMs: NOW + 3_600_000,
    } as const;
    const state = executing();
    const next = after(state, afterTurn(state, { kind: "limit", limit, usage: { seconds: 1 } }, context));
    expect(next).toMatchObject({
      phase: "suspended",
      suspended: { reason: "usageLimit", untilMs: NOW + 3_630_000, account: "claude" },
    });
    expect(next.instructions.join()).toContain("interrupted by a usage limit");
    const credit = { ...limit, needsUser: true };
    expect(
      after(state, afterTurn(state, { kind: "limit", limit: credit, usage: { seconds: 1 } }, context)),
    ).toMatchObject({ phase: "asking", ask: { reason: "limit" } });
  });

  test("is given to the first agent that is at no limit, if there is one", () => {
    const executors = ["claude", "gemini", "codex"].map((model) => ({ model }));
    const state = executing({ executors });
    const isLimited = ({ model }: Role) => model !== "codex";
    expect(after(state, aroundLimit(state, isLimited) ?? [])).toMatchObject({
      executor: 2,
      phase: "running",
    });
    expect(aroundLimit(state, () => false)).toBeUndefined();
    expect(aroundLimit(state, () => true)).toBeUndefined();
    const reviewed = reviewing({ reviewers: executors });
    expect(after(reviewed, aroundLimit(reviewed, isLimited) ?? [])).toMatchObject({ reviewer: 2 });
  });

  test("that was interrupted in its thread waits for the user instead of starting again", () => {
    const state = executing({ executors: [{ model: "claude" }, { model: "codex" }] });
    const stopped = { kind: "interrupted", message: "It was interrupted.", usage: { seconds: 1 } } as const;
    const next = after(state, afterTurn(state, stopped, context));
    expect(next).toMatchObject({ phase: "suspended", executor: 0, suspended: { reason: "user" } });
    expect(next.suspended?.untilMs).toBeUndefined();
    expect(next.instructions.join()).toContain("interrupted by a user");
    const ofServer = { ...stopped, kind: "stopped" } as const;
    expect(after(state, afterTurn(state, ofServer, context))).toMatchObject({ phase: "ready" });
    const reviewed = reviewing();
    expect(after(reviewed, afterVerdict(reviewed, stopped, context))).toMatchObject({
      ...{ phase: "suspended", step: "review", instructions: [] },
    });
  });

  test("that could not be stored asks at once: neither another agent nor another attempt is tried", () => {
    const state = executing({ executors: [{ model: "claude" }, { model: "codex" }], attempts: 3 });
    const full = { kind: "unstored", message: "The disk is full.", usage: { seconds: 1 } } as const;
    expect(after(state, afterTurn(state, full, context))).toMatchObject({
      ...{ phase: "asking", ask: { reason: "place", message: "The disk is full." } },
      ...{ attempt: 1, executor: 0 },
    });
  });

  test("that is overloaded again and again pauses longer each time, and fails after five pauses", () => {
    let state = executing();
    const pauses: number[] = [];
    for (let failures = 0; failures < 6; failures += 1) {
      state = after(
        state,
        afterTurn(state, { kind: "overload", message: "529", usage: { seconds: 0 } }, context),
      );
      if (state.phase !== "suspended") break;
      pauses.push(((state.suspended?.untilMs ?? 0) - NOW) / 60_000);
      state = after(state, [
        { type: "task/resumed", data: { by: "scheduler" } },
        { type: "run/leased", data: { runId: "r", worker: "w", fence: state.fence + 1, leaseId: "l" } },
      ]);
    }
    expect(pauses).toEqual([1, 5, 15, 60, 60]);
    expect(state.phase).toBe("failed");
  });
});

describe("the checks", () => {
  test("that fail become findings of the next round, without a review", () => {
    const state = reviewing({ checks: [{ command: "npm test" }] });
    const result = { name: "npm test", exitCode: 1, timedOut: false, seconds: 3, output: "1 failed" };
    const next = after(state, afterChecks(state, { kind: "ran", results: [result] }, context));
    expect(next).toMatchObject({
      step: "execute",
      phase: "running",
      findings: [{ id: "C1.1", why: "1 failed" }],
    });
  });
});

describe("the verdict", () => {
  test("approves only if no finding blocks, whatever its word is", () => {
    const state = reviewing();
    const yes = judged({ verdict: "approve", findings: [major] });
    expect(after(state, afterVerdict(state, yes, context))).toMatchObject({
      step: "execute",
      phase: "running",
    });
    const no = judged({ verdict: "approve", findings: [minor] });
    expect(after(state, afterVerdict(state, no, context))).toMatchObject({ phase: "approving" });
  });

  test("without a blocking finding is requested once more if it rejects, then counts as approval", () => {
    const state = reviewing();
    const again = after(state, afterVerdict(state, judged({ findings: [minor] }), context));
    expect(again).toMatchObject({ phase: "running", step: "review" });
    expect(after(again, afterVerdict(again, judged({ findings: [minor] }), context)).phase).toBe("approving");
  });

  test("after the first round blocks only by blockers, by changed lines, and by what is still open", () => {
    const state = secondReview();
    const earlier = [{ id: "F1", state: "resolved" }] as const;
    const elsewhere = judged({ findings: [major], earlier: [...earlier] });
    expect(
      after(
        state,
        afterVerdict(state, { ...elsewhere, verdict: { ...elsewhere.verdict, verdict: "approve" } }, context),
      ).phase,
    ).toBe("approving");
    const changed = judged({ findings: [major], earlier: [...earlier] }, [0]);
    expect(after(state, afterVerdict(state, changed, context)).step).toBe("execute");
    const silent = judged({ verdict: "approve" });
    expect(after(state, afterVerdict(state, silent, context)).step).toBe("execute");
  });

  test("has a new finding also under an id that an earlier one has, unless that one is still open", () => {
    const state = secondReview();
    const blocker = { id: "F1", severity: "blocker", what: "deletes the database" } as const;
    const resolved = judged({ findings: [blocker], earlier: [{ id: "F1", state: "resolved" }] });
    expect(after(state, afterVerdict(state, resolved, context))).toMatchObject({
      step: "execute",
      findings: [
        { id: "F1", state: "resolved" },
        { id: "F2", what: "deletes the database", state: "open", blocking: true },
      ],
    });
    const alike = judged({ findings: [{ ...major, id: "F1" }], earlier: [{ id: "F1", state: "resolved" }] });
    expect(after(state, afterVerdict(state, alike, context)).findings).toHaveLength(2);
    const open = { findings: [{ ...major, id: "F1" }], earlier: [{ id: "F1", state: "open" as const }] };
    expect(after(state, afterVerdict(state, judged(open), context)).findings).toHaveLength(1);
    const graver = judged({ findings: [blocker], earlier: [{ id: "F1", state: "open" }] });
    expect(after(state, afterVerdict(state, graver, context)).findings).toHaveLength(2);
  });

  test("asks the user after the last round", () => {
    const state = reviewing({ rounds: 1 });
    const next = after(state, afterVerdict(state, judged({ findings: [major] }), context));
    expect(next).toMatchObject({ phase: "asking", ask: { reason: "rounds" }, run: undefined });
  });

  test("asks the user about a finding that the executor contests twice", () => {
    const first = reviewing();
    let state = after(first, afterVerdict(first, judged({ findings: [major] }), context));
    for (const tree of ["b", "c"]) {
      state = after(state, startRound(state, context));
      state = after(
        state,
        afterTurn(state, completed(HASH(tree), [{ id: "F1", why: "it is right" }]), context),
      );
      if (state.phase === "running")
        state = after(
          state,
          afterVerdict(state, judged({ earlier: [{ id: "F1", state: "open" }] }), context),
        );
    }
    expect(state).toMatchObject({ phase: "asking", ask: { reason: "contested" } });
  });

  test("that fails goes to the user, and costs no attempt", () => {
    const failed = { kind: "failed", message: "exited with 1", usage: { seconds: 1 } } as const;
    const state = reviewing({ attempts: 2 });
    expect(after(state, afterVerdict(state, failed, context))).toMatchObject({
      ...{ phase: "asking", attempt: 1 },
      ask: { reason: "cannotJudge", message: "The review failed: exited with 1" },
    });
  });

  test("that cannot be given goes to the next reviewer, then to the user", () => {
    const state = reviewing({ reviewers: [{ model: "codex" }, { model: "claude" }] });
    const next = after(state, afterVerdict(state, judged({ verdict: "cannotJudge" }), context));
    expect(next).toMatchObject({ phase: "running", reviewer: 1, step: "review" });
    expect(after(next, afterVerdict(next, judged({ verdict: "cannotJudge" }), context))).toMatchObject({
      ask: { reason: "cannotJudge" },
    });
  });
});

describe("a run", () => {
  test("that cannot have its own folder does not run", () => {
    const state = added();
    const unable = { kind: "unable", message: "no space left", mayPass: false } as const;
    expect(after(state, afterPrepare(state, unable, context))).toMatchObject({
      phase: "asking",
      ask: { reason: "place" },
    });
  });

  test("that is lost is recorded, and the fourth in an attempt asks the user", () => {
    let state = executing();
    for (let lost = 1; lost <= 4; lost += 1) {
      state = after(state, afterLost(state, state.fence + 1, context));
      expect(state.phase).toBe(lost < 4 ? "ready" : "asking");
      state =
        lost < 4
          ? after(state, [
              { type: "run/leased", data: { runId: "r", worker: "w", fence: state.fence + 1, leaseId: "l" } },
            ])
          : state;
    }
  });
});

describe("the merge", () => {
  test("that conflicts is settled by the next round, also if that had begun before the result was accepted", () => {
    const state = after(secondReview(), [
      { type: "round/started", data: { round: 3, executor: 0, clientId: "c" } },
    ]);
    const merging = { ...state, step: "merge" as const };
    const conflict = { kind: "conflict", files: ["a.ts"], onto: HASH("f") } as const;
    const back = after(merging, afterMerge(merging, conflict, context));
    expect(back.findings.at(-1)).toMatchObject({ source: "merge", round: 2, state: "open" });
    const started = after(back, startRound(back, context));
    const done = after(started, afterTurn(started, completed(HASH("c")), context));
    expect(done.findings.at(-1)).toMatchObject({ source: "merge", state: "resolved" });
  });

  test("that conflicts goes to the executor once, then to the user", () => {
    const conflict = { kind: "conflict", files: ["a.ts"], onto: HASH("f") } as const;
    const state = reviewing();
    const next = after(state, afterMerge(state, conflict, context));
    expect(next).toMatchObject({ step: "execute", phase: "running", findings: [{ id: "M1" }] });
    expect(after(next, afterMerge(next, conflict, context))).toMatchObject({ ask: { reason: "conflict" } });
  });
});
