import { type Cost, type TokenUsage, totalTokens } from "@flint/protocol";

/** Dollars for a million tokens of each kind. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** From so many input tokens on, the whole request costs so many times as much. */
  readonly long?: { readonly above: number; readonly input: number; readonly output: number };
}

/** Settings of a model that the user configured; they replace known facts and those of an endpoint. */
export interface ModelSettings {
  readonly contextWindow?: number | undefined;
  readonly price?: Price | undefined;
}

const GPT_LONG = { above: 272_000, input: 2, output: 1.5 };

/** List prices as published by the providers on 2026-11-10. */
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

/** Prices of models: by the user's configuration, else by the published price lists. */
export class PriceList {
  readonly #configured: ReadonlyMap<string, ModelSettings>;

  /** `configured` has settings by model id, with or without the agent in front. */
  constructor(configured: ReadonlyMap<string, ModelSettings> = new Map()) {
    this.#configured = configured;
  }

  /** The price that the user configured for a model of an agent. */
  configured(id: string): Price | undefined {
    return settingsOf(this.#configured, id)?.price;
  }

  /** The published price of a model of a maker, such as `anthropic/claude-opus-5-5`. A date at the end does not count. */
  published(model: string): Price | undefined {
    const undated = model.replace(/-\d{4}-?\d{2}-?\d{2}$/, "");
    return Object.hasOwn(PRICES, undated) ? PRICES[undated] : undefined;
  }
}

/** The settings for a model id, under that id, without its agent, or under the model's own name. */
export function settingsOf(
  configured: ReadonlyMap<string, ModelSettings>,
  id: string,
): ModelSettings | undefined {
  const [, ...rest] = id.split("/");
  return configured.get(id) ?? configured.get(rest.join("/")) ?? configured.get(rest.at(-1) ?? id);
}

/** Returns the cost of a model call at a price. */
export function costAt(price: Price, usage: TokenUsage): Cost {
  const { inputTokens, outputTokens, thinkingTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const output = outputTokens + thinkingTokens;
  const isLong = price.long !== undefined && totalTokens(usage) - output > price.long.above;
  const times = isLong && price.long !== undefined ? price.long : { input: 1, output: 1 };
  const input =
    inputTokens * price.input + cacheReadTokens * price.cacheRead + cacheWriteTokens * price.cacheWrite;
  return {
    amount: (input * times.input + output * price.output * times.output) / 1_000_000,
    currency: "USD",
  };
}
