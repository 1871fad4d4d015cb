export type { ModelSettings } from "./models/prices.ts";
export {
  FIRST_LISTED,
  findModel,
  OFFLINE_ID,
  type Provider,
  type ProviderModel,
  providersOf,
  requireConfigured,
  runsLocally,
} from "./models/providers.ts";
export {
  CONTEXT_LENGTH,
  OFFLINE_SELECTORS,
  REASONING_EFFORT,
  type Selector,
  selectedValue,
  selectorsOf,
  TEMPERATURE,
  toConfigOption,
} from "./models/selectors.ts";
export {
  DEFAULT_NATIVE_OPTIONS,
  type Endpoint,
  type ModelAccess,
  type NamedEndpoint,
  type NativeOptions,
  type WebAccess,
} from "./options.ts";
