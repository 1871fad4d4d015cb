import type { ConfigOption, ConfigValues } from "@flint/protocol";
import type { ModelFacts } from "./model-facts.ts";

/** A config selector: its values in order, and the default. */
export interface Selector {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
  readonly defaultValue: string;
}

/** The ids of the selectors in a thread's settings. */
export const TEMPERATURE = "temperature";
export const CONTEXT_LENGTH = "context_length";
export const REASONING_EFFORT = "reasoning_effort";

const SMALL_CONTEXTS = [4096, 8192, 16_384];
const CONTEXTS = [...SMALL_CONTEXTS, 32_768, 65_536, 131_072, 262_144, 524_288];

/**
 * The context of a model whose window is not known. Larger ones are offered only if the window is known to be larger,
 * and are never the default.
 */
const USUAL_CONTEXT = 131_072;

/** Clients that do not count the first 12 thousand tokens, as Codex's do, still show how much of this is left. */
const OFFLINE_DEFAULT = 16_384;

/** The share of the window for the conversation; the rest is for the response. */
const CONVERSATION_SHARE = 0.8;

const temperature: Selector = {
  id: TEMPERATURE,
  name: "Temperature",
  description: "How random the output is. The offline model ignores it.",
  values: ["0.0", "0.3", "0.7", "1.0"],
  defaultValue: "0.0",
};

/** The selectors of the offline model. */
export const OFFLINE_SELECTORS: readonly Selector[] = [
  temperature,
  contextLength(SMALL_CONTEXTS, OFFLINE_DEFAULT),
];

/** The selectors of a provider's model. */
export function selectorsOf(facts: ModelFacts): readonly Selector[] {
  return [
    ...(facts.acceptsTemperature ? [temperature] : []),
    contextOf(facts.contextWindow),
    ...effortOf(facts),
  ];
}

/** The selected value; a value that the selector does not have counts as none. */
export function selectedValue({ id, values, defaultValue }: Selector, config: ConfigValues): string {
  const value = config[id];
  return value !== undefined && values.includes(value) ? value : defaultValue;
}

/** A selector as clients get it. */
export function toConfigOption(selector: Selector, model: string, config: ConfigValues): ConfigOption {
  return {
    type: "select",
    id: selector.id,
    name: selector.name,
    description: selector.description,
    options: selector.values.map((value) => ({ id: value, name: value })),
    value: selectedValue(selector, config),
    modelIds: [model],
  };
}

function contextOf(window: number | undefined): Selector {
  const fitting = CONTEXTS.filter((size) => size <= (window ?? USUAL_CONTEXT));
  const values = fitting.length === 0 ? CONTEXTS.slice(0, 1) : fitting;
  const room = window === undefined ? USUAL_CONTEXT : Math.min(window * CONVERSATION_SHARE, USUAL_CONTEXT);
  const preset = values.findLast((size) => size <= room) ?? values[0] ?? USUAL_CONTEXT;
  return contextLength(values, preset);
}

function contextLength(values: readonly number[], preset: number): Selector {
  return {
    id: CONTEXT_LENGTH,
    name: "Context length",
    description: "How many tokens of the conversation the model sees; the oldest are left out.",
    values: values.map(String),
    defaultValue: String(preset),
  };
}

function effortOf({ efforts, defaultEffort }: ModelFacts): readonly Selector[] {
  if (defaultEffort === undefined) return [];
  return [
    {
      id: REASONING_EFFORT,
      name: "Reasoning effort",
      description: "How much the model reasons before it answers. More takes longer and costs more.",
      values: efforts,
      defaultValue: defaultEffort,
    },
  ];
}
