import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { type ConfigOption, type Model, modelDescription, type Result } from "@flint/protocol";
import type { ClientCapabilities } from "../capabilities.ts";
import { modesOf } from "./modes.ts";

/** The config of a session: what can be chosen, and the current values. */
export interface ConfigState {
  readonly modes: SessionModeState;
  readonly models: LegacyModels;
  readonly configOptions: readonly SessionConfigOption[];
}

/** The models in the form that preceded config options. */
export interface LegacyModels {
  readonly availableModels: readonly {
    readonly modelId: string;
    readonly name: string;
    readonly description?: string;
  }[];
  readonly currentModelId: string;
}

/** Source of the config. */
export interface ConfigSource {
  readonly config: Result<"config/read">;
  readonly models: readonly Model[];
  readonly capabilities: ClientCapabilities;
  readonly autoResume: boolean;
  /** True if mentioned files are read from the editor. */
  readonly editorFiles: boolean;
}

/** The ids of Flint's own options; an agent's option with the same id gets a prefix. */
export const MODE_OPTION = "mode";
export const MODEL_OPTION = "model";
export const AUTO_RESUME_OPTION = "auto_resume";
export const EDITOR_FILES_OPTION = "editor_files";
const OWN: readonly string[] = [MODE_OPTION, MODEL_OPTION, AUTO_RESUME_OPTION, EDITOR_FILES_OPTION];
const AGENT_PREFIX = "agent_";

/** The config of a session, as config options and in the older form of modes and models. */
export function configStateOf(source: ConfigSource): ConfigState {
  const { config, capabilities, autoResume, editorFiles } = source;
  const modes = modesOf(config);
  const models = modelsOf(source);
  return {
    modes,
    models,
    configOptions: [
      modeOption(modes),
      modelOption(models),
      ...config.options.map((option) => agentOption(option, capabilities)),
      switchOption(AUTO_RESUME, autoResume, capabilities),
      ...(capabilities.readTextFile ? [switchOption(EDITOR_FILES, editorFiles, capabilities)] : []),
    ],
  };
}

/** The id of an agent's option without the prefix. */
export function agentOptionId(configId: string): string {
  const plain = configId.slice(AGENT_PREFIX.length);
  return configId.startsWith(AGENT_PREFIX) && OWN.includes(plain) ? plain : configId;
}

function modelsOf({ config, models }: ConfigSource): LegacyModels {
  const agents = new Set(models.map(({ id }) => agentOf(id)));
  const listed = models.map((model) => {
    const { id, displayName } = model;
    const description = modelDescription(model);
    return {
      modelId: id,
      name: agents.size > 1 ? `${agentOf(id)}: ${displayName}` : displayName,
      ...(description === undefined ? {} : { description }),
    };
  });
  const isListed = listed.some(({ modelId }) => modelId === config.model);
  const own = isListed ? [] : [{ modelId: config.model, name: config.model }];
  return { availableModels: [...own, ...listed], currentModelId: config.model };
}

/** The agent that a model belongs to. */
export function agentOf(modelId: string): string {
  return modelId.split("/")[0] ?? modelId;
}

function modeOption({ currentModeId, availableModes }: SessionModeState): SessionConfigOption {
  return {
    ...{ type: "select", id: MODE_OPTION, name: "Mode", category: "mode", currentValue: currentModeId },
    description: "What the agent may do, and when it asks you",
    options: availableModes.map(({ id, name, description }) => ({
      value: id,
      name,
      description: description ?? null,
    })),
  };
}

function modelOption({ currentModelId, availableModels }: LegacyModels): SessionConfigOption {
  return {
    ...{ type: "select", id: MODEL_OPTION, name: "Model", category: "model", currentValue: currentModelId },
    description: "The agent and its model",
    options: availableModels.map(({ modelId, name, description }) => ({
      value: modelId,
      name,
      description: description ?? null,
    })),
  };
}

function agentOption(option: ConfigOption, { booleanOptions }: ClientCapabilities): SessionConfigOption {
  const { id, name, description, category, value, type } = option;
  const shown = {
    id: OWN.includes(id) ? `${AGENT_PREFIX}${id}` : id,
    name,
    category: categoryOf(category),
    ...(description === undefined ? {} : { description }),
  };
  if (type === "boolean" && booleanOptions) return { ...shown, type, currentValue: value === "true" };
  return {
    ...shown,
    type: "select",
    currentValue: value,
    options: choicesOf(option).map((choice) => ({
      value: choice.id,
      name: choice.name,
      ...(choice.description === undefined ? {} : { description: choice.description }),
    })),
  };
}

/** ACP has no numbers: an editor is offered some of them, the current one among them. */
function choicesOf({ type, options, value, min, max, step }: ConfigOption): ConfigOption["options"] {
  if (type !== "number") return options;
  const count = min === undefined || max === undefined ? 0 : Math.floor((max - min) / (step ?? 1)) + 1;
  const isFew = count > 0 && count <= MOST_NUMBERS;
  // Twelve digits hide that 0.1 + 0.2 is not 0.3.
  const numbers = Array.from({ length: isFew ? count : 0 }, (_, at) =>
    Number(((min ?? 0) + at * (step ?? 1)).toPrecision(12)),
  );
  const all = numbers.includes(Number(value)) ? numbers : [...numbers, Number(value)].sort((a, b) => a - b);
  return all
    .map((number) => (number === Number(value) ? value : String(number)))
    .map((id) => ({ id, name: id }));
}

/** More numbers than this are no list to choose from. */
const MOST_NUMBERS = 50;

/** The mode of a session is Flint's own; an option that an agent calls its mode belongs to its model. */
function categoryOf(category: string | undefined): string {
  return category === undefined || category === "mode" || category === "model" ? "model_config" : category;
}

const AUTO_RESUME = {
  id: AUTO_RESUME_OPTION,
  name: "Auto-resume sessions",
  description: "The first new session in a folder continues the last one of this editor there",
};

const EDITOR_FILES = {
  id: EDITOR_FILES_OPTION,
  name: "Unsaved files",
  description: "Send mentioned files as they are in the editor, including unsaved changes",
};

function switchOption(
  shown: { readonly id: string; readonly name: string; readonly description: string },
  isOn: boolean,
  { booleanOptions }: ClientCapabilities,
): SessionConfigOption {
  if (booleanOptions) return { ...shown, type: "boolean", currentValue: isOn };
  return {
    ...shown,
    type: "select",
    currentValue: String(isOn),
    options: [
      { value: "true", name: "On" },
      { value: "false", name: "Off" },
    ],
  };
}
