import type { ConfigOption, ConfigValues } from "@flint/protocol";
import type { ModelFacts } from "./model-facts.ts";

/** A selector: its values in order, and the one that holds if nobody chose. */
export interface Selector {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
  readonly defaultValue: string;
}

/** The ids under which a thread keeps its choices. */
export const TEMPERATURE = "temperature";
export const CONTEXT_LENGTH = "context_length";
export const REASONING_EFFORT = "reasoning_effort";

const SMALL_CONTEXTS = [4096, 8192, 16_384];
const CONTEXTS = [...SMALL_CONTEXTS, 32_768, 65_536, 131_072, 262_144, 524_288];

/** More than this is offered only where the window is known to be larger, and is never chosen by itself. */
const USUAL_CONTEXT = 131_072;

/** What is chosen for a model of which nothing is known: one on this machine, and one elsewhere. */
const LOCAL_PRESET = 8192;
const HOSTED_PRESET = 32_768;

/** Clients that take the first 12 thousand tokens for granted, as Codex's do, still see how much of this is left. */
const OFFLINE_PRESET = 16_384;

/** Room that the answer needs beside the conversation, as a share of the window. */
const CONVERSATION_SHARE = 0.8;

const temperature: Selector = {
  id: TEMPERATURE,
  name: "Temperature",
  description: "How freely a model chooses its words. The offline model never varies.",
  values: ["0.0", "0.3", "0.7", "1.0"],
  defaultValue: "0.0",
};

/** The selectors of the offline model. */
export const OFFLINE_SELECTORS: readonly Selector[] = [
  temperature,
  contextLength(SMALL_CONTEXTS, OFFLINE_PRESET),
];

/** The selectors of a provider's model. */
export function selectorsOf(facts: ModelFacts, isLocal: boolean): readonly Selector[] {
  return [
    ...(facts.acceptsTemperature ? [temperature] : []),
    contextOf(facts.contextWindow, isLocal),
    ...effortOf(facts),
  ];
}

/** The value that holds; one that the selector does not offer counts as none. */
export function selectedValue({ id, values, defaultValue }: Selector, config: ConfigValues): string {
  const value = config[id];
  return value !== undefined && values.includes(value) ? value : defaultValue;
}

/** A selector as clients are shown it. */
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

function contextOf(window: number | undefined, isLocal: boolean): Selector {
  const fitting = CONTEXTS.filter((size) => size <= (window ?? USUAL_CONTEXT));
  const values = fitting.length === 0 ? CONTEXTS.slice(0, 1) : fitting;
  const room = Math.min((window ?? USUAL_CONTEXT) * CONVERSATION_SHARE, USUAL_CONTEXT);
  const wanted = isLocal ? LOCAL_PRESET : window === undefined ? HOSTED_PRESET : room;
  const preset = values.findLast((size) => size <= wanted) ?? values[0] ?? LOCAL_PRESET;
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
      description: "How hard the model thinks before it answers. More takes longer and costs more.",
      values: efforts,
      defaultValue: defaultEffort,
    },
  ];
}
