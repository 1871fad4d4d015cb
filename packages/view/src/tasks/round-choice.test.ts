import { expect, test } from "vitest";
import { roundChoice } from "./task-status.ts";

test("a round is written as r2 or 2, an attempt as a1, and both as a1.r2", () => {
  expect(["r2", "2", "a1", "a1.r12"].map(roundChoice)).toEqual([
    { fromRound: 2 },
    { fromRound: 2 },
    { fromAttempt: 1 },
    { fromAttempt: 1, fromRound: 12 },
  ]);
  for (const text of ["", "r0", "a", "r2.a1", "a1r2", "a1.2", " r2"])
    expect(roundChoice(text)).toBeUndefined();
});
