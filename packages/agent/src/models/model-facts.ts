import type { Price } from "./prices.ts";

/** The API of a provider. */
export type ProviderKind = "openai" | "anthropic" | "ollama" | "compatible";

/** The way in which a model's reasoning is controlled. */
export type Thinking = "none" | "effort" | "adaptive" | "alwaysAdaptive" | "budget";

/** The facts known about a model from its name. */
export interface ModelFacts {
  readonly contextWindow: number | undefined;
  readonly acceptsTemperature: boolean;
  readonly thinking: Thinking;
  /** Its reasoning efforts, the lowest first. Empty if it has none. */
  readonly efforts: readonly string[];
  readonly defaultEffort: string | undefined;
  /** True if its endpoint enforces a JSON schema while tools are offered too. */
  readonly enforcesSchema: boolean;
  /** The price that its endpoint states, if it states one. */
  readonly price?: Price | undefined;
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
