import { FlintError } from "@flint/protocol";
import type { Endpoint, ModelAccess, NamedEndpoint } from "../options.ts";
import { displayUrl } from "./ai-sdk/clean-text.ts";
import type { ProviderKind } from "./model-facts.ts";

/** The id of the offline model. */
export const OFFLINE_ID = "flint/offline";

/** Placeholder for the model that a provider lists first, where that is not known yet. */
export const FIRST_LISTED = "first-listed";

const DRIVER = "flint/";

/** A model provider: its URL, its API, and hints for users. */
export interface Provider {
  /** The part of a model id between `flint/` and the model's own name. */
  readonly id: string;
  readonly kind: ProviderKind;
  readonly label: string;
  /** Ends with the API version if there is one, never with a slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Its models, if they should not be requested from it. */
  readonly models: readonly string[] | undefined;
  /** True if it can be used; the others are known only by name. */
  readonly isConfigured: boolean;
  /** True if the user set it up, so that no other provider replaces it when it does not answer. */
  readonly isExpected: boolean;
  /** True if its price list applies. */
  readonly isOfficial: boolean;
  readonly isLocal: boolean;
  /** Advice for when it rejects the key. */
  readonly authHint: string;
  /** Advice for when it cannot be reached. */
  readonly connectHint: string;
  /** The setting of its URL, for the message when that is invalid. */
  readonly addressSetting: string;
}

/** A model and its provider. */
export interface ProviderModel {
  readonly id: string;
  readonly provider: Provider;
  /** The model's name as its provider knows it. */
  readonly name: string;
}

const OPENAI_URL = "https://api.openai.com/v1";
const ANTHROPIC_URL = "https://api.anthropic.com/v1";
const TRY_AGAIN = "Check the network and the address.";

/** All providers, in the order in which they are tried for the default. Built-in names cannot be overridden. */
export function providersOf({ anthropic, openai, ollama, others }: ModelAccess): readonly Provider[] {
  const builtIn = [
    hosted("anthropic", "Anthropic", versioned(anthropic?.baseUrl ?? ANTHROPIC_URL, true), anthropic),
    hosted("openai", "OpenAI", versioned(openai?.baseUrl ?? OPENAI_URL, false), openai),
    localOllama(ollama),
  ] as const;
  const taken = new Set<string>([...builtIn.map(({ id }) => id), "offline"]);
  const named = others
    .filter(({ name }) => name !== "" && !taken.has(name))
    .map((other) => compatible(other.name, other));
  const [first, second, last] = builtIn;
  return [first, second, ...named, last];
}

/**
 * Finds the model of an id, with or without `flint/` in front. Any model of a provider can be named, listed or not,
 * and whether the provider is set up or not.
 */
export function findModel(id: string, providers: readonly Provider[]): ProviderModel | undefined {
  const path = id.startsWith(DRIVER) ? id.slice(DRIVER.length) : id;
  const fitting = providers.filter((provider) => path.startsWith(`${provider.id}/`));
  const [provider] = fitting.toSorted((one, other) => other.id.length - one.id.length);
  const name = provider === undefined ? "" : path.slice(provider.id.length + 1);
  return provider === undefined || name === "" ? undefined : { id: modelId(provider, name), provider, name };
}

/** Throws a FlintError with the way out if the provider of a model is not set up, or has no valid URL. */
export function requireConfigured({ provider, name }: ProviderModel): void {
  if (provider.isConfigured) {
    if (isAddress(provider.baseUrl)) return;
    const problem = `The address of ${provider.label}, ${JSON.stringify(displayUrl(provider.baseUrl))}, is not an http or https URL. Set ${provider.addressSetting} to one such as http://127.0.0.1:8080/v1, or use --offline.`;
    throw new FlintError("invalidParams", problem, { field: "model" });
  }
  const message = `${provider.label} is not set up for the model ${JSON.stringify(name)}. ${provider.authHint}`;
  throw new FlintError("invalidParams", message, { field: "model" });
}

/** The full id of a provider's model. */
export function modelId(provider: Provider, name: string): string {
  return `${DRIVER}${provider.id}/${name}`;
}

/** Reports whether the models of a provider run on this machine, rather than a gateway to them. */
export function runsLocally({ kind, isLocal }: Provider): boolean {
  return kind === "ollama" || (kind === "compatible" && isLocal);
}

function isAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

/** Reports whether a URL is on this machine. */
export function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function hosted(
  id: "openai" | "anthropic",
  label: string,
  baseUrl: string,
  endpoint: Endpoint | undefined,
): Provider {
  const variable = id === "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY";
  const isOfficial = baseUrl === (id === "openai" ? OPENAI_URL : ANTHROPIC_URL);
  const hasKey = endpoint?.apiKey !== undefined && endpoint.apiKey !== "";
  return {
    id,
    kind: id,
    label,
    baseUrl,
    apiKey: hasKey ? endpoint.apiKey : undefined,
    models: undefined,
    isConfigured: hasKey || (endpoint !== undefined && !isOfficial),
    isExpected: true,
    isOfficial,
    isLocal: isLoopback(baseUrl),
    authHint: `Set ${variable} to a valid key.`,
    connectHint: TRY_AGAIN,
    addressSetting: id === "openai" ? "OPENAI_BASE_URL" : "ANTHROPIC_BASE_URL",
  };
}

function localOllama(endpoint: ModelAccess["ollama"]): Provider {
  const address = endpoint.baseUrl.includes("://") ? endpoint.baseUrl : `http://${endpoint.baseUrl}`;
  // Ollama listens at this address for all networks; requests go to the loopback interface.
  const reachable = address.replace("://0.0.0.0", "://127.0.0.1");
  return {
    ...compatible("ollama", { ...endpoint, name: "ollama", baseUrl: versioned(reachable, true) }),
    kind: "ollama",
    label: "Ollama",
    authHint: "Set the key that this Ollama requires.",
    connectHint: "Start it with `ollama serve`, or set OLLAMA_HOST to where it runs.",
    isExpected: endpoint.isConfigured === true,
    addressSetting: "OLLAMA_HOST",
  };
}

function compatible(name: string, endpoint: NamedEndpoint): Provider {
  const { baseUrl, models } = endpoint;
  const apiKey = endpoint.apiKey === "" ? undefined : endpoint.apiKey;
  return {
    id: name,
    kind: "compatible",
    label: JSON.stringify(name),
    baseUrl: versioned(baseUrl, false),
    apiKey,
    models,
    isConfigured: true,
    isExpected: true,
    isOfficial: false,
    isLocal: isLoopback(baseUrl),
    authHint: keyAdvice(name, endpoint.keyVariable, apiKey !== undefined),
    connectHint: TRY_AGAIN,
    // The configuration gives this name to the endpoint of FLINT_MODEL_URL.
    addressSetting: name === "custom" ? "FLINT_MODEL_URL" : `base_url of [providers.${name}]`,
  };
}

function keyAdvice(name: string, variable: string | undefined, hasKey: boolean): string {
  if (variable === undefined) return `Name the variable with its key in api_key_env of [providers.${name}].`;
  return hasKey ? `Check the key in ${variable}.` : `${variable} is not set: set it to a valid key.`;
}

/**
 * A URL with the API version. `always`: such URLs are usually given without it, even with a path of their own; otherwise
 * only a bare host lacks it.
 */
function versioned(address: string, always: boolean): string {
  const trimmed = address.replace(/\/+$/, "");
  if (!URL.canParse(trimmed)) return trimmed;
  const { pathname } = new URL(trimmed);
  const lacks = always ? !/\/v\d+$/.test(pathname) : pathname === "/";
  return lacks ? `${trimmed}/v1` : trimmed;
}
