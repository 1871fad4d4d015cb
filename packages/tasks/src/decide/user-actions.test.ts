import { describe, expect, test } from "vitest";
import { added, after, completed, context, executing, HASH, judged, resumedRun } from "../testing/task.ts";
import { afterMerge, afterTurn, afterVerdict } from "./run.ts";
import { answer, approve, cancel, merge, rejectResult, resume, retry, suspend } from "./user-actions.ts";

function approving(merge: "none" | "squash" = "squash") {
  const state = executing({ merge });
  const executed = after(state, afterTurn(state, completed(), context));
  return after(executed, afterVerdict(executed, judged({ verdict: "approve" }), context));
}

function asking() {
  const state = executing();
  return after(state, afterTurn(state, { ...completed(), changed: false }, context));
}

describe("the user", () => {
  test("approves exactly the tree that was shown", () => {
    const state = approving();
    expect(() => approve(state, HASH("b"), "alice")).toThrow("has changed since it was shown");
    expect(after(state, approve(state, HASH("a"), "alice"))).toMatchObject({ phase: "ready", step: "merge" });
    const kept = approving("none");
    expect(after(kept, approve(kept, HASH("a"), "alice")).phase).toBe("done");
  });

  test("who approves a task that asks is sent to its question", () => {
    expect(() => approve(asking(), null, "alice")).toThrow(
      "needs an answer and does not need an approval. Answer it: flint tasks answer",
    );
    expect(() => rejectResult(executing(), "no", "alice")).toThrow(/does not need an approval\.$/);
  });

  test("who rejects a result starts another round, also beyond the last one", () => {
    const state = { ...approving(), spec: { ...approving().spec, rounds: 1 } };
    const next = after(state, rejectResult(state, "Use zod", "alice"));
    expect(next).toMatchObject({
      phase: "ready",
      step: "execute",
      extraRounds: 1,
      findings: [{ what: "Use zod" }],
    });
  });

  test("answers what is asked, and nothing else", () => {
    const state = asking();
    const reply = { choice: "continue", message: "Look at parse.ts" } as const;
    expect(() => answer(state, "other", reply, "alice")).toThrow("has a different question");
    const next = after(state, answer(state, "id-1", reply, "alice"));
    expect(next).toMatchObject({ phase: "ready", step: "execute", instructions: ["Look at parse.ts"] });
    expect(() => answer(next, "id-1", reply, "alice")).toThrow("has no open question");
    expect(after(state, answer(state, "id-1", { choice: "fail" }, "alice")).phase).toBe("failed");
    expect(after(state, answer(state, "id-1", { choice: "accept" }, "alice")).step).toBe("merge");
  });

  test("merges later what was done without a merge: exactly what was shown, and once", () => {
    const kept = approving("none");
    expect(() => merge(kept, HASH("a"), undefined, "alice")).toThrow("flint tasks approve 1");
    const done = after(kept, approve(kept, HASH("a"), "alice"));
    expect(() => merge(done, HASH("b"), undefined, "alice")).toThrow("has changed since it was shown");
    expect(() => merge(done, HASH("a"), "none", "alice")).toThrow("Choose another mode");
    const requested = after(done, merge(done, HASH("a"), undefined, "alice"));
    expect(requested).toMatchObject({ phase: "ready", step: "merge", mergeAs: "branch" });
    const running = after(requested, resumedRun(requested));
    const outcome = { kind: "merged", ref: "refs/heads/flint/x", commit: HASH("a") } as const;
    const merged = after(running, afterMerge(running, outcome, context));
    expect(merged).toMatchObject({ phase: "done", merged: { ref: "refs/heads/flint/x" } });
    expect(() => merge(merged, HASH("a"), "squash", "alice")).toThrow("is already in refs/heads/flint/x");
    expect(after(merged, retry(merged, "alice")).mergeAs).toBeUndefined();
  });

  test("merges in another way what could not be merged", () => {
    const state = approving();
    const ready = after(state, approve(state, HASH("a"), "alice"));
    const running = after(ready, resumedRun(ready));
    const unable = { kind: "unable", message: "No gh", mayPass: false } as const;
    const stuck = after(running, afterMerge(running, unable, context));
    expect(stuck.phase).toBe("asking");
    const next = after(stuck, merge(stuck, HASH("a"), "branch", "alice"));
    expect(next).toMatchObject({ phase: "ready", step: "merge", mergeAs: "branch", ask: undefined });
    expect(() => merge(asking(), null, undefined, "alice")).toThrow("Answer it first");
    const cancelled = after(state, cancel(state, "alice"));
    expect(() => merge(cancelled, HASH("a"), undefined, "alice")).toThrow("Run it again first");
  });

  test("rejects cancel, suspend, resume and retry in the wrong phase", () => {
    const state = executing();
    const cancelled = after(state, cancel(state, "alice"));
    expect(cancelled).toMatchObject({ phase: "cancelled", run: undefined });
    expect(() => cancel(cancelled, "alice")).toThrow("is cancelled already");
    expect(after(cancelled, retry(cancelled, "alice"))).toMatchObject({
      phase: "ready",
      attempt: 2,
      step: "prepare",
    });
    expect(() => retry(state, "alice")).toThrow("is running");
    const paused = after(state, suspend(state, "alice"));
    expect(paused).toMatchObject({ phase: "suspended", run: undefined });
    expect(after(paused, resume(paused, "alice")).phase).toBe("ready");
    expect(() => resume(state, "alice")).toThrow("not suspended");
  });

  test("has a task done again from any round of any attempt", () => {
    const first = approving();
    const again = after(after(first, cancel(first, "alice")), [
      { type: "task/retried", data: { by: "alice" } },
    ]);
    const ended = after(again, cancel(again, "alice"));
    const from = (choice: Parameters<typeof retry>[2]) => after(ended, retry(ended, "alice", choice)).from;
    expect(from({})).toBeUndefined();
    expect(from({ fromAttempt: 1 })).toBe(HASH("a"));
    expect(from({ fromAttempt: 1, fromRound: 1 })).toBe(HASH("a"));
    expect(() => from({ fromRound: 1 })).toThrow("has no result of r1. Results that it has: a1.r1.");
    expect(() => from({ fromAttempt: 1, fromRound: 2 })).toThrow("no result of a1.r2");
    const ofLast = after(first, cancel(first, "alice"));
    expect(after(ofLast, retry(ofLast, "alice", { fromRound: 1 }))).toMatchObject({
      from: HASH("a"),
      attempt: 2,
    });
  });

  test("who resumes a task that waited has it wait again", () => {
    const waiting = { ...added(), phase: "waiting" as const };
    const paused = after(waiting, suspend(waiting, "alice"));
    expect(after(paused, resume(paused, "alice")).phase).toBe("waiting");
  });
});
