import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addCost, addUsage, Cost, NO_USAGE, TokenUsage, totalTokens } from "./usage.ts";

const RUNS = { seed: 1, numRuns: 200 };
const tokens = fc.integer({ min: 0, max: 1_000_000 });
const usages: fc.Arbitrary<TokenUsage> = fc.record(
  {
    inputTokens: tokens,
    outputTokens: tokens,
    thinkingTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  },
  { requiredKeys: ["inputTokens", "outputTokens"] },
);

describe("usage", () => {
  test("adds bucket by bucket, and a bucket that neither side has stays absent", () => {
    const first = { inputTokens: 10, outputTokens: 5, thinkingTokens: 2 };
    const second = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 100 };
    expect(addUsage(first, second)).toEqual({
      inputTokens: 11,
      outputTokens: 6,
      thinkingTokens: 2,
      cacheReadTokens: 100,
    });
  });

  test("does not change when nothing is added", () => {
    fc.assert(
      fc.property(usages, (usage) => {
        expect(addUsage(usage, NO_USAGE)).toEqual(usage);
        expect(addUsage(NO_USAGE, usage)).toEqual(usage);
      }),
      RUNS,
    );
  });

  test("has a total that is the sum of the totals, in any order", () => {
    fc.assert(
      fc.property(usages, usages, (left, right) => {
        expect(totalTokens(addUsage(left, right))).toBe(totalTokens(left) + totalTokens(right));
        expect(addUsage(left, right)).toEqual(addUsage(right, left));
      }),
      RUNS,
    );
  });

  test("counts every bucket once", () => {
    const usage = {
      inputTokens: 1,
      outputTokens: 10,
      thinkingTokens: 100,
      cacheReadTokens: 1000,
      cacheWriteTokens: 10_000,
    };
    expect(totalTokens(usage)).toBe(11_111);
  });
});

describe("usage on the wire", () => {
  test("needs input and output; the other buckets are optional [S0-80]", () => {
    const least = { inputTokens: 1, outputTokens: 2 };
    const all = { ...least, thinkingTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 5 };
    expect(TokenUsage.parse(least)).toEqual(least);
    expect(TokenUsage.parse(all)).toEqual(all);
    expect(TokenUsage.safeParse({ inputTokens: 1 }).success).toBe(false);
    expect(TokenUsage.safeParse({ ...least, thinkingTokens: "3" }).success).toBe(false);
  });

  test("names the currency of a cost", () => {
    expect(Cost.parse({ amount: 0.25, currency: "USD" })).toEqual({ amount: 0.25, currency: "USD" });
    expect(Cost.safeParse({ amount: 0.25 }).success).toBe(false);
  });
});

test("costs of one currency are added; another currency replaces them", () => {
  expect(addCost(undefined, { amount: 1, currency: "USD" })).toEqual({ amount: 1, currency: "USD" });
  expect(addCost({ amount: 1, currency: "USD" }, { amount: 2, currency: "USD" })).toEqual({
    amount: 3,
    currency: "USD",
  });
  expect(addCost({ amount: 1, currency: "USD" }, { amount: 2, currency: "EUR" })).toEqual({
    amount: 2,
    currency: "EUR",
  });
});
