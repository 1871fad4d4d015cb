import { expect, test } from "vitest";
import { contextUsage, usageEvent } from "./usage.ts";

const last = (usage: object) => usageEvent({ usage }, {}, {}, true);

test("cached tokens are told apart, whether the agent counts them among the input or beside it", () => {
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

test("thought tokens are told apart in the same way", () => {
  const among = { inputTokens: 5, outputTokens: 10, thoughtTokens: 4, totalTokens: 15 };
  const expected = { inputTokens: 5, outputTokens: 6, thinkingTokens: 4 };
  expect(last(among)).toEqual({ type: "usage", last: expected });
  expect(last({ ...among, outputTokens: 6 })).toEqual({ type: "usage", last: expected });
});

test("an agent that tells it only beside the protocol, or only how full its context is, is understood", () => {
  const quota = { _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 3 } } } };
  expect(usageEvent(quota, {}, {}, true)).toEqual({
    type: "usage",
    last: { inputTokens: 7, outputTokens: 3 },
  });
  const use = contextUsage({}, { used: 50, size: 200 });
  const told = { type: "usage", last: { inputTokens: 50, outputTokens: 0 }, modelContextWindow: 200 };
  expect(usageEvent({}, {}, use, true)).toEqual(told);
  expect(usageEvent({}, {}, {}, true)).toBeUndefined();
});

test("of a session that was taken up, what it cost before is not counted again", () => {
  const cost = (amount: number) => contextUsage({}, { used: 1, cost: { amount, currency: "EUR" } });
  expect(usageEvent({}, {}, cost(3), false)).not.toHaveProperty("cost");
  expect(usageEvent({}, cost(3), cost(5), false)).toMatchObject({ cost: { amount: 2, currency: "EUR" } });
  expect(usageEvent({}, {}, cost(3), true)).toMatchObject({ cost: { amount: 3 } });
});
