import { expect, test } from "vitest";
import { costOf } from "./model-facts.ts";

const MILLION = 1_000_000;

test("applies the price of each kind of token, reasoning as output", () => {
  const usage = {
    inputTokens: 100_000,
    outputTokens: 5000,
    thinkingTokens: 5000,
    cacheReadTokens: 50_000,
    cacheWriteTokens: 10_000,
  };
  const dollars = (100_000 * 4 + 10_000 * 20 + 50_000 * 0.2 + 10_000 * 5) / MILLION;
  expect(costOf("anthropic/claude-opus-5-5", usage)).toEqual({ amount: dollars, currency: "USD" });
  expect(costOf("anthropic/claude-opus-5-5-20260801", usage)).toEqual({ amount: dollars, currency: "USD" });
});

test("applies the higher price for long conversations", () => {
  expect(costOf("openai/gpt-6.1-sol", { inputTokens: 272_000, outputTokens: 1000 })?.amount).toBeCloseTo(
    0.554,
  );
  expect(costOf("openai/gpt-6.1-sol", { inputTokens: 272_001, outputTokens: 1000 })?.amount).toBeCloseTo(
    1.103,
  );
});

test("has no cost for a model without a known price", () => {
  expect(costOf("openai/gpt-99", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
  expect(costOf("constructor", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
});
