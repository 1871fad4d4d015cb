import type { Price, PriceList } from "@flint/agent/prices";
import { type ConfigOption, type ConfigValues, type Model, PERSONALITY } from "@flint/protocol";
import type { CodexModel } from "@flint/protocol/codex";
import { CODEX } from "./descriptor.ts";

/** The ids of the selectors. */
export const REASONING_EFFORT = "reasoning_effort";
export const COLLABORATION_MODE = "collaboration_mode";

const PREFIX = `${CODEX.id}/`;

/** The model of the user's own settings of Codex. */
export const DEFAULT_MODEL = `${PREFIX}default`;

const DEFAULT_ROW: Model = {
  id: DEFAULT_MODEL,
  displayName: "Codex",
  description: "The model that Codex is set to use.",
  isDefault: true,
};

/** Codex's name of a model; undefined if Codex chooses. */
export function modelName(id: string): string | undefined {
  return id === DEFAULT_MODEL ? undefined : id.slice(PREFIX.length);
}

/** The models to list, with the default one first. */
export function modelRows(models: readonly CodexModel[]): readonly Model[] {
  const rows = models.filter(({ hidden }) => !hidden).map(modelRow);
  return [DEFAULT_ROW, ...rows.filter(({ id }) => id !== DEFAULT_MODEL)];
}

function modelRow(listed: CodexModel): Model {
  const { model, displayName, description } = listed;
  const { inputModalities, supportsPersonality, serviceTiers, additionalSpeedTiers } = listed;
  const details = { inputModalities, supportsPersonality, serviceTiers, additionalSpeedTiers };
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  const meta = known.length === 0 ? {} : { meta: Object.fromEntries(known) };
  return { id: PREFIX + model, displayName, description, isDefault: false, ...meta };
}

/** Returns the price of a model, by Codex's name of it. */
export function codexPrice(prices: PriceList, name: string): Price | undefined {
  return prices.configured(PREFIX + name) ?? prices.published(`openai/${name}`);
}

/** Codex's name of the model that an id means; undefined if that is not known. */
export function resolveModelName(id: string, models: readonly CodexModel[]): string | undefined {
  return modelName(id) ?? models.find(({ isDefault }) => isDefault)?.model;
}

/** The selectors of a model, with values applied. The reasoning efforts are those that the model reports. */
export function selectorsOf(
  id: string,
  models: readonly CodexModel[],
  values: ConfigValues,
): readonly ConfigOption[] {
  const name = resolveModelName(id, models);
  const found = models.find(({ model }) => model === name);
  return [...effortOf(found), ...personalityOf(found), COLLABORATION].map((option) => {
    const chosen = values[option.id];
    const isOffered = option.options.some((choice) => choice.id === chosen);
    return chosen !== undefined && isOffered ? { ...option, value: chosen } : option;
  });
}

function effortOf(model: CodexModel | undefined): ConfigOption[] {
  if (model === undefined || model.supportedReasoningEfforts.length === 0) return [];
  const options = model.supportedReasoningEfforts.map(({ reasoningEffort, description }) => ({
    id: reasoningEffort,
    name: titled(reasoningEffort),
    description,
  }));
  const isListed = options.some(({ id }) => id === model.defaultReasoningEffort);
  const value = isListed ? model.defaultReasoningEffort : (options[0]?.id ?? "");
  return [
    {
      type: "select",
      id: REASONING_EFFORT,
      name: "Reasoning effort",
      category: "thought_level",
      options,
      value,
    },
  ];
}

/** Only for models that support it; those of 0.166.0 do not. */
function personalityOf(model: CodexModel | undefined): ConfigOption[] {
  if (model?.supportsPersonality !== true) return [];
  const options = ["default", "pragmatic", "friendly"].map((id) => ({ id, name: titled(id) }));
  return [{ type: "select", id: PERSONALITY, name: "Personality", options, value: "default" }];
}

const COLLABORATION: ConfigOption = {
  type: "select",
  id: COLLABORATION_MODE,
  name: "Collaboration mode",
  category: "mode",
  options: [
    { id: "default", name: "Default", description: "Works at once." },
    { id: "review", name: "Review", description: "Reviews what the prompt names and changes nothing." },
    { id: "plan", name: "Plan", description: "Makes a plan first, and asks." },
  ],
  value: "default",
};

function titled(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
