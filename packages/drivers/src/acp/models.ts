import {
  type ConfigOption,
  type ConfigSelectOption,
  type ConfigValues,
  listOf,
  type Model,
  stringOf,
} from "@flint/protocol";
import { type JsonObject, objectOf } from "../shared/json.ts";
import type { AcpProfile } from "./profile.ts";

/** The model that the agent itself chooses. */
export const DEFAULT_MODEL = "default";

/** The way to set a selector: as a configuration option, or by one of the older methods. */
type SelectorKind = "option" | "mode" | "model";

/** Something that can be chosen in an agent's session. */
export interface Selector {
  readonly kind: SelectorKind;
  readonly option: ConfigOption;
}

/** The selectors of a session, with their current choices. */
export interface Selectors {
  readonly model: Selector | undefined;
  readonly others: readonly Selector[];
}

/** Nothing to choose. */
export const NO_SELECTORS: Selectors = { model: undefined, others: [] };

/** The selectors in the response that opened a session; configuration options replace the older fields. */
export function selectorsOf(answer: JsonObject): Selectors {
  const options = listOf(answer.configOptions).flatMap((option) => configOption(objectOf(option)));
  const has = (category: string) => options.some((option) => isOf(option, category));
  const modes = has("mode")
    ? []
    : olderSelector("mode", "Mode", objectOf(answer.modes), "currentModeId", "availableModes");
  const models = has("model")
    ? []
    : olderSelector("model", "Model", objectOf(answer.models), "currentModelId", "availableModels");
  const all = [...options.map((option): Selector => ({ kind: "option", option })), ...modes, ...models];
  const model = all.find(({ option }) => isOf(option, "model"));
  return { model, others: all.filter((selector) => selector !== model) };
}

/** The selectors after an update of all configuration options; those of the older fields stay. */
export function withOptions(known: Selectors, configOptions: unknown): Selectors {
  const fresh = selectorsOf({ configOptions });
  const older = known.others.filter(
    ({ kind, option }) => kind !== "option" && !fresh.others.some((other) => other.option.id === option.id),
  );
  const model = fresh.model ?? (known.model?.kind === "option" ? undefined : known.model);
  return { model, others: [...fresh.others, ...older] };
}

/** The selectors with another value of one of them. */
export function withValue(known: Selectors, id: string, value: string): Selectors {
  const change = (selector: Selector): Selector =>
    selector.option.id === id ? { ...selector, option: { ...selector.option, value } } : selector;
  return {
    model: known.model === undefined ? undefined : change(known.model),
    others: known.others.map(change),
  };
}

/** The selectors that a profile knows before the agent has run. */
export function presetSelectors({ modes }: AcpProfile): Selectors {
  const [first] = modes;
  if (first === undefined) return NO_SELECTORS;
  const option: ConfigOption = {
    ...{ type: "select", id: "mode", name: "Mode", category: "mode" },
    options: modes.map(({ id, name }) => ({ id, name })),
    value: first.id,
  };
  return { model: undefined, others: [{ kind: "mode", option }] };
}

/** The selectors as config options, with the values that they offer applied. */
export function asOptions({ others }: Selectors, values: ConfigValues): readonly ConfigOption[] {
  return others.map(({ option }) => {
    const chosen = Object.hasOwn(values, option.id) ? values[option.id] : undefined;
    const isOffered = option.options.some(({ id }) => id === chosen);
    return isOffered && chosen !== undefined ? { ...option, value: chosen } : option;
  });
}

/** The models of an agent, as far as they are known; the first is the agent's own choice. */
export function modelsOf({ id: driverId, displayName }: AcpProfile, { model }: Selectors): readonly Model[] {
  const own: Model = {
    id: `${driverId}/${DEFAULT_MODEL}`,
    displayName,
    description: `The model that ${displayName} is set up with`,
    isDefault: true,
  };
  const offered = (model?.option.options ?? []).filter(({ id }) => id !== DEFAULT_MODEL);
  return [own, ...offered.map((choice) => modelRow(driverId, choice))];
}

function modelRow(driverId: string, { id, name, description }: ConfigSelectOption): Model {
  const described = description === undefined ? {} : { description };
  return { id: `${driverId}/${id}`, displayName: name, isDefault: false, ...described };
}

function isOf(option: ConfigOption, category: string): boolean {
  return option.category === category || (option.category === undefined && option.id === category);
}

function configOption(given: JsonObject): ConfigOption[] {
  const id = stringOf(given.id);
  if (id === undefined) return [];
  const common = { id, name: stringOf(given.name) ?? id, ...describedBy(given), ...categoryOf(given) };
  if (given.type === "boolean") {
    const options = [
      { id: "true", name: "On" },
      { id: "false", name: "Off" },
    ];
    return [{ type: "boolean", ...common, options, value: String(given.currentValue === true) }];
  }
  const value = stringOf(given.currentValue);
  if (value === undefined) return [];
  return [{ type: "select", ...common, options: withCurrent(choicesOf(given.options), value), value }];
}

/** Choices may be grouped. */
function choicesOf(options: unknown): ConfigSelectOption[] {
  return listOf(options).flatMap((each) => {
    const option = objectOf(each);
    if (Array.isArray(option.options)) return choicesOf(option.options);
    return choice(option, "value");
  });
}

function choice(given: JsonObject, key: string): ConfigSelectOption[] {
  const id = stringOf(given[key]);
  return id === undefined ? [] : [{ id, name: stringOf(given.name) ?? id, ...describedBy(given) }];
}

function withCurrent(choices: readonly ConfigSelectOption[], value: string): ConfigSelectOption[] {
  const isListed = choices.some(({ id }) => id === value);
  return isListed ? [...choices] : [...choices, { id: value, name: value }];
}

function olderSelector(
  kind: "mode" | "model",
  name: string,
  given: JsonObject,
  current: string,
  available: string,
): Selector[] {
  const value = stringOf(given[current]);
  if (value === undefined) return [];
  const key = kind === "mode" ? "id" : "modelId";
  const choices = listOf(given[available]).flatMap((each) => choice(objectOf(each), key));
  const options = withCurrent(choices, value);
  return [{ kind, option: { type: "select", id: kind, name, category: kind, options, value } }];
}

function describedBy({ description }: JsonObject): { description?: string } {
  return typeof description === "string" ? { description } : {};
}

function categoryOf({ category }: JsonObject): { category?: string } {
  return typeof category === "string" ? { category } : {};
}
