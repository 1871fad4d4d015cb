import { type Cost, type TokenUsage, totalTokens } from "@flint/protocol";

/** Dollars for a million tokens of each kind. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** From so many input tokens on, the whole request costs so many times as much. */
  readonly long?: { readonly above: number; readonly input: number; readonly output: number };
}

const GPT_LONG = { above: 272_000, input: 2, output: 1.5 };

/** List prices as published by the providers on 2026-11-10. A date at the end of a name does not count. */
const PRICES: Readonly<Record<string, Price>> = {
  "anthropic/claude-fable-5-1": { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5 },
  "anthropic/claude-fable-5": { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
  "anthropic/claude-opus-5-5": { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
  "anthropic/claude-opus-5": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-opus-4-8": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-opus-4-7": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-opus-4-6": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-opus-4-5": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-sonnet-5-5": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  "anthropic/claude-sonnet-5": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  "anthropic/claude-sonnet-4-6": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "anthropic/claude-sonnet-4-5": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "anthropic/claude-haiku-5-5": {
    ...{ input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
    long: { above: 100_000, input: 5, output: 5 },
  },
  "anthropic/claude-haiku-4-5": { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
  "openai/gpt-6-astra": { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5, long: GPT_LONG },
  "openai/gpt-6.1-sol": { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, long: GPT_LONG },
  "openai/gpt-6-sol": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, long: GPT_LONG },
  "openai/gpt-6.1-terra": { input: 1, output: 5, cacheRead: 0.05, cacheWrite: 1.25, long: GPT_LONG },
  "openai/gpt-6-luna": { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, long: GPT_LONG },
};

/** What a step cost by the list price of its provider; undefined if the price is not known. */
export function costOf(model: string, usage: TokenUsage): Cost | undefined {
  const price = priceOf(model);
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, thinkingTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const spoken = outputTokens + thinkingTokens;
  const isLong = price.long !== undefined && totalTokens(usage) - spoken > price.long.above;
  const times = isLong && price.long !== undefined ? price.long : { input: 1, output: 1 };
  const seen =
    inputTokens * price.input + cacheReadTokens * price.cacheRead + cacheWriteTokens * price.cacheWrite;
  return { amount: (seen * times.input + spoken * price.output * times.output) / 1_000_000, currency: "USD" };
}

/** The same model may be named with the day of its release. */
function priceOf(model: string): Price | undefined {
  const undated = model.replace(/-\d{4}-?\d{2}-?\d{2}$/, "");
  return Object.hasOwn(PRICES, undated) ? PRICES[undated] : undefined;
}
