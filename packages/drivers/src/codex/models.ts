import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import type { CodexModel } from "@flint/protocol/codex";

export const REASONING_EFFORT = "reasoning_effort";
export const PERSONALITY = "personality";
export const COLLABORATION_MODE = "collaboration_mode";

/** The driver's id, and what its model ids begin with. */
export const CODEX_ID = "codex";

/** Whatever the user's own settings of Codex say; known without asking Codex. */
export const DEFAULT_MODEL = `${CODEX_ID}/default`;

const DEFAULT_ROW: Model = {
  id: DEFAULT_MODEL,
  displayName: "Codex",
  description: "The model that the settings of Codex name.",
  isDefault: true,
};

/** What Codex calls a model; undefined if it is to choose itself. */
export function modelName(id: string): string | undefined {
  return id === DEFAULT_MODEL ? undefined : id.slice(CODEX_ID.length + 1);
}

/** The models as Flint lists them. */
export function modelRows(models: readonly CodexModel[]): readonly Model[] {
  const rows = models.filter(({ hidden }) => !hidden).map(modelRow);
  return [DEFAULT_ROW, ...rows.filter(({ id }) => id !== DEFAULT_MODEL)];
}

function modelRow({ model, displayName, description }: CodexModel): Model {
  return { id: `${CODEX_ID}/${model}`, displayName, description, isDefault: false };
}

/** The selectors of a model, with these values chosen. The efforts are the model's own, never a list of ours. */
export function selectorsOf(
  id: string,
  models: readonly CodexModel[],
  values: ConfigValues,
): readonly ConfigOption[] {
  const name = modelName(id);
  const found = models.find(({ model, isDefault }) => (name === undefined ? isDefault : model === name));
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

/** Only models that still know it; those of 0.166.0 say that they do not. */
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
