import { type Cost, type TokenUsage, totalTokens } from "@flint/protocol";

/** Which API a provider has. */
export type ProviderKind = "openai" | "anthropic" | "ollama" | "compatible";

/** How a model's reasoning is controlled. */
export type Thinking = "none" | "effort" | "adaptive" | "alwaysAdaptive" | "budget";

/** What is known about a model from its name. */
export interface ModelFacts {
  readonly contextWindow: number | undefined;
  readonly acceptsTemperature: boolean;
  readonly thinking: Thinking;
  /** Its reasoning efforts, the lowest first. Empty if it has none. */
  readonly efforts: readonly string[];
  readonly defaultEffort: string | undefined;
  /** Whether its endpoint enforces a JSON schema while tools are offered too. */
  readonly enforcesSchema: boolean;
}

/** A model that is listed without asking its provider. */
export interface KnownModel {
  readonly name: string;
  readonly displayName: string;
}

/** The models that are listed before a provider is queried, the default first. As of 2026-11. */
export const KNOWN_MODELS: Readonly<Record<"openai" | "anthropic", readonly KnownModel[]>> = {
  anthropic: [
    { name: "claude-opus-5-5", displayName: "Claude Opus 5.5" },
    { name: "claude-fable-5-1", displayName: "Claude Fable 5.1" },
    { name: "claude-sonnet-5-5", displayName: "Claude Sonnet 5.5" },
    { name: "claude-haiku-5-5", displayName: "Claude Haiku 5.5" },
  ],
  openai: [
    { name: "gpt-6.1-sol", displayName: "GPT-6.1 Sol" },
    { name: "gpt-6-astra", displayName: "GPT-6 Astra" },
    { name: "gpt-6.1-terra", displayName: "GPT-6.1 Terra" },
    { name: "gpt-6-luna", displayName: "GPT-6 Luna" },
  ],
};

const PLAIN: ModelFacts = {
  contextWindow: undefined,
  acceptsTemperature: true,
  thinking: "none",
  efforts: [],
  defaultEffort: undefined,
  enforcesSchema: false,
};

/** Reads facts from a model's name, by the conventions of its maker. */
export function factsOf(kind: ProviderKind, name: string): ModelFacts {
  const ownName = name.split("/").at(-1) ?? name;
  switch (kind) {
    case "anthropic":
      return claudeFacts(ownName);
    case "openai":
      return gptFacts(ownName);
    case "ollama":
      return PLAIN;
    case "compatible":
      // Behind a gateway the model is known by its maker's name, but what the gateway supports is not known.
      return { ...gptFacts(ownName), contextWindow: undefined, enforcesSchema: false };
  }
}

/** The facts of a model that can reason according to its server. */
export function thinkingFacts(facts: ModelFacts, name: string): ModelFacts {
  // The gpt-oss models cannot turn it off.
  const efforts = name.includes("gpt-oss") ? ["low", "medium", "high"] : ["none", "low", "medium", "high"];
  return { ...facts, thinking: "effort", efforts, defaultEffort: "medium" };
}

function claudeFacts(name: string): ModelFacts {
  const [, family, major, minor] = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(name) ?? [];
  const version = Number(major ?? 0) + Number(minor ?? 0) / 10;
  const isKnown = family !== undefined;
  const facts = {
    ...PLAIN,
    contextWindow: version >= 4.6 ? 1_000_000 : 200_000,
    enforcesSchema: version >= 4.5,
  };
  if (!isKnown || version < 4) return facts;
  const isBudgeted = version < 4.6;
  const isAlways = family === "fable" || (version >= 5.5 && family !== "haiku");
  const levels = ["low", "medium", "high"];
  return {
    ...facts,
    acceptsTemperature: version < 4.7,
    thinking: isBudgeted ? "budget" : isAlways ? "alwaysAdaptive" : "adaptive",
    efforts: isAlways ? levels : ["none", ...levels],
    defaultEffort: isBudgeted ? "none" : version >= 5.5 && family !== "sonnet" ? "medium" : "high",
  };
}

function gptFacts(name: string): ModelFacts {
  const facts = { ...PLAIN, contextWindow: windowOfGpt(name), enforcesSchema: !name.startsWith("gpt-3") };
  const efforts = effortsOfGpt(name);
  if (efforts.length === 0) return facts;
  return { ...facts, acceptsTemperature: false, thinking: "effort", efforts, defaultEffort: "medium" };
}

function effortsOfGpt(name: string): readonly string[] {
  if (/^o\d/.test(name) || name.startsWith("gpt-oss")) return ["low", "medium", "high"];
  const [, major, minor, variant = ""] = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(name) ?? [];
  const version = Number(major ?? 0) + Number(minor ?? 0) / 10;
  if (version < 5 || variant.startsWith("chat")) return [];
  const levels = ["low", "medium", "high"];
  if (/codex|pro/.test(variant) || version >= 6) return levels;
  return version === 5 ? ["minimal", ...levels] : ["none", ...levels];
}

function windowOfGpt(name: string): number | undefined {
  if (/^gpt-(?:[6-9]|5\.[4-9])/.test(name)) return 1_050_000;
  if (name.startsWith("gpt-5")) return 400_000;
  if (name.startsWith("gpt-4.1")) return 1_047_576;
  if (/^o\d/.test(name)) return 200_000;
  return name.startsWith("gpt-4o") ? 128_000 : undefined;
}

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

/** The same model may be named with the day of its release. */
function priceOf(model: string): Price | undefined {
  const undated = model.replace(/-\d{4}-?\d{2}-?\d{2}$/, "");
  return Object.hasOwn(PRICES, undated) ? PRICES[undated] : undefined;
}
