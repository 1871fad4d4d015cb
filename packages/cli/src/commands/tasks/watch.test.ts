import { NO_USAGE } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { NOW, row } from "../../testing/task-row.ts";
import { blockerOf, progressOf } from "./progress.ts";
import { watchLines } from "./watch.ts";

describe("a task that waits for others", () => {
  const second = row(2, "waiting", { after: ["t1"] });
  const third = row(3, "waiting", { after: ["t2"] });

  test.each([
    ["running", "continues"],
    ["waiting", "continues"],
    ["asking", "needsUser"],
    ["approving", "needsUser"],
    ["suspended", "suspended"],
    // The scheduler decides about these at once.
    ["done", "continues"],
    ["failed", "continues"],
  ] as const)("after one that is %s stands as %s, directly or not", (phase, standing) => {
    const all = [row(1, phase), second, third];
    expect([progressOf(second, all), progressOf(third, all)]).toEqual([standing, standing]);
  });

  test("needs the user if one of several does, and goes on if it only waits for its time", () => {
    const all = [row(1, "suspended"), row(4, "asking"), row(5, "running")];
    const waits = row(6, "waiting", { after: ["t5", "t1", "t4", "gone"] });
    expect(blockerOf(waits, all)?.number).toBe(4);
    expect(progressOf(row(7, "waiting", { notBeforeMs: NOW + 1000 }), all)).toBe("continues");
  });
});

describe("the lines of a watched task", () => {
  test("name the task that it comes after and that needs the user", () => {
    const asks = row(1, "asking");
    expect(watchLines(row(2, "waiting", { after: ["t1"] }), asks, "needsUser", NOW)).toEqual([
      "#2 Task 2: waiting",
      "comes after #1, which needs an answer",
    ]);
  });

  test("show what it cost once it has stopped", () => {
    const usage = { tokens: NO_USAGE, seconds: 372, cost: { amount: 0.41, currency: "USD" } };
    const working = row(1, "running", { step: "execute", round: 2, usage });
    expect(watchLines(working, undefined, "continues", NOW)).toEqual(["#1 Task 1: working, round 2 of 3"]);
    const stopped = row(1, "approving", { round: 2, usage });
    expect(watchLines(stopped, undefined, "needsUser", NOW)).toEqual([
      "#1 Task 1: needs approval, round 2 of 3, used $0.410, 6m 12s",
      'flint tasks approve 1, or flint tasks reject 1 "…"',
    ]);
  });

  test("say when one that has a time starts", () => {
    const [line] = watchLines(
      row(1, "waiting", { notBeforeMs: NOW + 7_500_000 }),
      undefined,
      "continues",
      NOW,
    );
    expect(line).toBe("#1 Task 1: starts in 2h 05m");
  });
});
