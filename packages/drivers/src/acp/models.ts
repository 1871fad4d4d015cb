import type { ConfigOption, ConfigSelectOption, ConfigValues, Model } from "@flint/protocol";
import type { AcpProfile } from "./profiles.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "./wire.ts";

/** The model that means: whatever the agent chooses itself. */
export const OWN_CHOICE = "default";

/** How a value is set in the agent. */
type Way = "option" | "mode" | "model";

/** One thing that can be chosen in an agent's session. */
export interface Selector {
  readonly way: Way;
  readonly option: ConfigOption;
}

/** What can be chosen in a session, and what is chosen. */
export interface Selectors {
  readonly model: Selector | undefined;
  readonly others: readonly Selector[];
}

/** Nothing to choose. */
export const NO_SELECTORS: Selectors = { model: undefined, others: [] };

/** Reads what can be chosen from an answer that opened a session; configuration options win over the older fields. */
export function selectorsOf(answer: JsonObject): Selectors {
  const options = listOf(answer.configOptions).flatMap((option) => configOption(objectOf(option)));
  const has = (category: string) => options.some((option) => isOf(option, category));
  const modes = has("mode")
    ? []
    : legacy("mode", "Mode", objectOf(answer.modes), "currentModeId", "availableModes");
  const models = has("model")
    ? []
    : legacy("model", "Model", objectOf(answer.models), "currentModelId", "availableModels");
  const all = [...options.map((option): Selector => ({ way: "option", option })), ...modes, ...models];
  const model = all.find(({ option }) => isOf(option, "model"));
  return { model, others: all.filter((selector) => selector !== model) };
}

/** The selectors after an agent told all of its options anew; what it has by the older fields stays. */
export function withOptions(known: Selectors, configOptions: unknown): Selectors {
  const fresh = selectorsOf({ configOptions });
  const kept = known.others.filter(
    ({ way, option }) => way !== "option" && !fresh.others.some((other) => other.option.id === option.id),
  );
  const model = fresh.model ?? (known.model?.way === "option" ? undefined : known.model);
  return { model, others: [...fresh.others, ...kept] };
}

/** The selectors after one of them got another value. */
export function withValue(known: Selectors, id: string, value: string): Selectors {
  const change = (selector: Selector): Selector =>
    selector.option.id === id ? { ...selector, option: { ...selector.option, value } } : selector;
  return {
    model: known.model === undefined ? undefined : change(known.model),
    others: known.others.map(change),
  };
}

/** What a profile knows before the agent was asked. */
export function presetSelectors({ modes }: AcpProfile): Selectors {
  const [first] = modes;
  if (first === undefined) return NO_SELECTORS;
  const option: ConfigOption = {
    ...{ type: "select", id: "mode", name: "Mode", category: "mode" },
    options: modes.map(({ id, name }) => ({ id, name })),
    value: first.id,
  };
  return { model: undefined, others: [{ way: "mode", option }] };
}

/** The selectors as clients are shown them, with values applied where they are offered. */
export function asOptions({ others }: Selectors, values: ConfigValues): readonly ConfigOption[] {
  return others.map(({ option }) => {
    const wanted = Object.hasOwn(values, option.id) ? values[option.id] : undefined;
    const isOffered = option.options.some(({ id }) => id === wanted);
    return isOffered && wanted !== undefined ? { ...option, value: wanted } : option;
  });
}

/** The models of an agent, as far as they are known; the first is always its own choice. */
export function modelsOf({ id: driverId, displayName }: AcpProfile, { model }: Selectors): readonly Model[] {
  const own: Model = {
    id: `${driverId}/${OWN_CHOICE}`,
    displayName,
    description: `The model that ${displayName} is set up with`,
    isDefault: true,
  };
  const offered = (model?.option.options ?? []).filter(({ id }) => id !== OWN_CHOICE);
  return [own, ...offered.map((choice) => modelRow(driverId, choice))];
}

function modelRow(driverId: string, { id, name, description }: ConfigSelectOption): Model {
  const told = description === undefined ? {} : { description };
  return { id: `${driverId}/${id}`, displayName: name, isDefault: false, ...told };
}

function isOf(option: ConfigOption, category: string): boolean {
  return option.category === category || (option.category === undefined && option.id === category);
}

function configOption(told: JsonObject): ConfigOption[] {
  const id = stringOf(told.id);
  if (id === undefined) return [];
  const common = { id, name: stringOf(told.name) ?? id, ...describedBy(told), ...categoryOf(told) };
  if (told.type === "boolean") {
    const options = [
      { id: "true", name: "On" },
      { id: "false", name: "Off" },
    ];
    return [{ type: "boolean", ...common, options, value: String(told.currentValue === true) }];
  }
  const value = stringOf(told.currentValue);
  if (value === undefined) return [];
  return [{ type: "select", ...common, options: withCurrent(choicesOf(told.options), value), value }];
}

/** Choices may stand in groups. */
function choicesOf(options: unknown): ConfigSelectOption[] {
  return listOf(options).flatMap((each) => {
    const option = objectOf(each);
    if (Array.isArray(option.options)) return choicesOf(option.options);
    return choice(option, "value");
  });
}

function choice(told: JsonObject, key: string): ConfigSelectOption[] {
  const id = stringOf(told[key]);
  return id === undefined ? [] : [{ id, name: stringOf(told.name) ?? id, ...describedBy(told) }];
}

function withCurrent(choices: readonly ConfigSelectOption[], value: string): ConfigSelectOption[] {
  const isListed = choices.some(({ id }) => id === value);
  return isListed ? [...choices] : [...choices, { id: value, name: value }];
}

function legacy(
  way: "mode" | "model",
  name: string,
  told: JsonObject,
  current: string,
  available: string,
): Selector[] {
  const value = stringOf(told[current]);
  if (value === undefined) return [];
  const key = way === "mode" ? "id" : "modelId";
  const choices = listOf(told[available]).flatMap((each) => choice(objectOf(each), key));
  const options = withCurrent(choices, value);
  return [{ way, option: { type: "select", id: way, name, category: way, options, value } }];
}

function describedBy({ description }: JsonObject): { description?: string } {
  return typeof description === "string" ? { description } : {};
}

function categoryOf({ category }: JsonObject): { category?: string } {
  return typeof category === "string" ? { category } : {};
}
