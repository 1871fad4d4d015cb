export { KEEP_ALIVE_CLOCK, pause } from "./models/clock.ts";
export {
  FIRST_LISTED,
  OFFLINE_ID,
  type ProvidedModel,
  type Provider,
  providedModel,
  providersOf,
  requireSetUp,
  runsHere,
} from "./models/providers.ts";
export {
  asOption,
  CONTEXT_LENGTH,
  chosen,
  OFFLINE_SELECTORS,
  REASONING_EFFORT,
  type Selector,
  selectorsOf,
  TEMPERATURE,
} from "./models/selectors.ts";
export {
  DEFAULT_NATIVE_OPTIONS,
  type Endpoint,
  type ModelAccess,
  type NamedEndpoint,
  type NativeOptions,
  type WebAccess,
} from "./options.ts";
