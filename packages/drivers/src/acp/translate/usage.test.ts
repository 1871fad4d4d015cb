import { expect, test } from "vitest";
import { contextUsage, usageEvent } from "./usage.ts";

const last = (usage: object) => usageEvent({ usage }, {}, {}, true);

test("separates cached tokens, whether the agent counts them with the input or not", () => {
  const among = {
    inputTokens: 100,
    outputTokens: 10,
    cachedReadTokens: 40,
    cachedWriteTokens: 20,
    totalTokens: 110,
  };
  const beside = { ...among, inputTokens: 40, totalTokens: 110 };
  const expected = { inputTokens: 40, outputTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 20 };
  expect(last(among)).toEqual({ type: "usage", last: expected });
  expect(last(beside)).toEqual({ type: "usage", last: expected });
});

test("separates thinking tokens in the same way", () => {
  const among = { inputTokens: 5, outputTokens: 10, thoughtTokens: 4, totalTokens: 15 };
  const expected = { inputTokens: 5, outputTokens: 6, thinkingTokens: 4 };
  expect(last(among)).toEqual({ type: "usage", last: expected });
  expect(last({ ...among, outputTokens: 6 })).toEqual({ type: "usage", last: expected });
});

test("reads usage from _meta, or from the size of the context", () => {
  const quota = { _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 3 } } } };
  expect(usageEvent(quota, {}, {}, true)).toEqual({
    type: "usage",
    last: { inputTokens: 7, outputTokens: 3 },
  });
  const use = contextUsage({}, { used: 50, size: 200 });
  const expected = { type: "usage", last: { inputTokens: 50, outputTokens: 0 }, modelContextWindow: 200 };
  expect(usageEvent({}, {}, use, true)).toEqual(expected);
  expect(usageEvent({}, {}, {}, true)).toBeUndefined();
});

test("does not count the earlier cost of a resumed session", () => {
  const cost = (amount: number) => contextUsage({}, { used: 1, cost: { amount, currency: "EUR" } });
  expect(usageEvent({}, {}, cost(3), false)).not.toHaveProperty("cost");
  expect(usageEvent({}, cost(3), cost(5), false)).toMatchObject({ cost: { amount: 2, currency: "EUR" } });
  expect(usageEvent({}, {}, cost(3), true)).toMatchObject({ cost: { amount: 3 } });
});
