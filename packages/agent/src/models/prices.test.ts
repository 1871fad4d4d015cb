import type { TokenUsage } from "@flint/protocol";
import { expect, test } from "vitest";
import { costAt, PriceList, settingsOf } from "./prices.ts";

const PRICES = new PriceList();

function costOf(model: string, usage: TokenUsage) {
  const price = PRICES.published(model);
  return price && costAt(price, usage);
}

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

test("finds what was configured for a model by its id, without its agent, or by its own name", () => {
  const own = { contextWindow: 1000 };
  for (const name of ["flint/custom/org/m", "custom/org/m", "m"])
    expect(settingsOf(new Map([[name, own]]), "flint/custom/org/m")).toBe(own);
  expect(settingsOf(new Map([["org/m", own]]), "flint/custom/org/n")).toBeUndefined();
});
