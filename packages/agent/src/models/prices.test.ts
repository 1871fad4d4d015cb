import { expect, test } from "vitest";
import { costOf } from "./prices.ts";

const MILLION = 1_000_000;

test("every kind of token has its price, and thinking is paid like speaking", () => {
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

test("a long conversation costs more where the provider says so", () => {
  expect(costOf("openai/gpt-6.1-sol", { inputTokens: 272_000, outputTokens: 1000 })?.amount).toBeCloseTo(
    0.554,
  );
  expect(costOf("openai/gpt-6.1-sol", { inputTokens: 272_001, outputTokens: 1000 })?.amount).toBeCloseTo(
    1.103,
  );
});

test("a model whose price is not known has no cost", () => {
  expect(costOf("openai/gpt-99", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
  expect(costOf("constructor", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
});
