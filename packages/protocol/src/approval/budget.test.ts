import { describe, expect, test } from "vitest";
import { Budget, changedBudget } from "./budget.ts";

describe("a budget", () => {
  test("limits tokens, money, time and model calls of a turn, and tokens, money, time and turns of a thread", () => {
    const budget = {
      turn: { tokens: 1_000, costUsd: 0.5, seconds: 90.5, steps: 10 },
      thread: { tokens: 5_000, costUsd: 2, seconds: 600, turns: 20 },
    };
    expect(Budget.parse(budget)).toEqual(budget);
    expect(Budget.parse({})).toEqual({});
  });

  test.each([
    { turn: { tokens: 0 } },
    { turn: { steps: 1.5 } },
    { thread: { costUsd: -1 } },
    { thread: { turns: "3" } },
  ])("cannot be %j", (budget) => {
    expect(Budget.safeParse(budget).success).toBe(false);
  });

  test("is changed part by part, and an empty part removes the limit", () => {
    const current: Budget = { turn: { tokens: 1 }, thread: { turns: 2 }, extended: { turns: 4 } };
    expect(changedBudget(current, { turn: { steps: 3 } })).toEqual({ ...current, turn: { steps: 3 } });
    expect(changedBudget(current, { thread: { tokens: 9 } })).toEqual({
      turn: { tokens: 1 },
      thread: { tokens: 9 },
    });
    expect(changedBudget(current, { turn: {}, thread: {} })).toBeUndefined();
    expect(changedBudget(undefined, { turn: { tokens: 5 } })).toEqual({ turn: { tokens: 5 } });
    expect(current.extended).toEqual({ turns: 4 });
  });

  test("is not extended by a change", () => {
    const current: Budget = { thread: { turns: 2 }, extended: { turns: 4 } };
    expect(changedBudget(current, { extended: { turns: 99 } })).toEqual(current);
    expect(changedBudget(undefined, { thread: { turns: 2 }, extended: { turns: 99 } })).toEqual({
      thread: { turns: 2 },
    });
  });
});
