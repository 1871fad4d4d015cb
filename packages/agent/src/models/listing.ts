import type { Clock } from "@flint/core/ports";
import { FlintError, isRecord, type Model as ModelRow } from "@flint/protocol";
import { displayUrl } from "./ai-sdk/clean-text.ts";
import { networkReason } from "./ai-sdk/http-connection.ts";
import { namesInList, ollamaWindow, settingsInList } from "./endpoint-facts.ts";
import { factsOf, KNOWN_MODELS, type ModelFacts, thinkingFacts } from "./model-facts.ts";
import {
  connectProblem,
  keyHeaders,
  ListProblem,
  ollamaUrl,
  readUpTo,
  statusProblem,
} from "./model-requests.ts";
import { type ModelSettings, PriceList, settingsOf } from "./prices.ts";
import { FIRST_LISTED, modelId, OFFLINE_ID, type Provider, type ProviderModel } from "./providers.ts";

/** The time that a list may take, and how long it is cached. */
const LOCAL_TIMEOUT_MS = 300;
const HOSTED_TIMEOUT_MS = 1500;
/** The timeout where nothing can be done without the list. */
const REQUIRED_TIMEOUT_MS = 10_000;
const CACHE_MS = 60_000;
/** A server that did not answer may just be starting. */
const EMPTY_CACHE_MS = 5000;

const MAX_LIST_BYTES = 4 * 1_048_576;
const MAX_MODELS = 1000;

const OFFLINE: Omit<ModelRow, "isDefault"> = {
  id: OFFLINE_ID,
  displayName: "Flint offline model",
  description: "Follows fixed rules. Deterministic; needs no API key or network.",
};

/** Returns the facts about a model for a picker, as far as they are known. */
function metaOf({ contextWindow, price, efforts }: ModelFacts): Pick<ModelRow, "meta"> {
  const meta = {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(price === undefined ? {} : { price: { input: price.input, output: price.output } }),
    ...(efforts.length === 0 ? {} : { efforts }),
  };
  return Object.keys(meta).length === 0 ? {} : { meta };
}

/** The models that a provider lists; if there are none, also why. */
interface ProviderList {
  readonly names: readonly string[];
  /** Settings of its models, by name. */
  readonly settings?: ReadonlyMap<string, ModelSettings>;
  readonly problem?: string;
}

interface CachedList {
  readonly list: Promise<ProviderList>;
  until: number;
}

/** The models of all providers. A provider that does not answer in time is listed with its known models. */
export class ModelListing {
  readonly #providers: readonly Provider[];
  readonly #clock: Clock;
  readonly #configured: ReadonlyMap<string, ModelSettings>;
  readonly #prices: PriceList;
  readonly #names = new Map<string, CachedList>();
  /** Facts about models that endpoints stated, by id. */
  readonly #details = new Map<string, Partial<ModelFacts>>();

  /** `configured` has what the user configured about models, by id. */
  constructor(
    providers: readonly Provider[],
    clock: Clock,
    configured: ReadonlyMap<string, ModelSettings> = new Map(),
  ) {
    this.#providers = providers.filter(({ isConfigured }) => isConfigured);
    this.#clock = clock;
    this.#configured = configured;
    this.#prices = new PriceList(configured);
  }

  /** All models; exactly one is the default. */
  async models(): Promise<readonly ModelRow[]> {
    const lists = await Promise.all(this.#providers.map((provider) => this.#rows(provider)));
    const rows = [...lists.flat(), OFFLINE];
    const unique = rows.filter((row, index) => rows.findIndex(({ id }) => id === row.id) === index);
    return unique.map((row, index) => ({ ...row, isDefault: index === 0 }));
  }

  /**
   * The model of a thread that names none: the first model of the first provider that has one. A provider that the user
   * set up is never skipped: if it lists nothing, turns fail with the reason. Sends no more requests than needed.
   */
  async defaultModel(): Promise<string> {
    for (const provider of this.#providers) {
      const [first] = knownNames(provider) ?? (await this.#list(provider)).names;
      if (first !== undefined) return modelId(provider, first);
      if (provider.isExpected) return modelId(provider, FIRST_LISTED);
    }
    return OFFLINE_ID;
  }

  /** Resolves the placeholder for a provider's first model. Rejects with the way out if there is none. */
  async resolved(model: ProviderModel): Promise<ProviderModel> {
    const { provider, name } = model;
    if (name !== FIRST_LISTED) return model;
    const names = knownNames(provider) ?? [];
    const list = names.length > 0 ? { names } : await this.#fetchList(provider, REQUIRED_TIMEOUT_MS);
    const [first] = list.names;
    if (first === undefined) throw noModel(provider, list);
    return { id: modelId(provider, first), provider, name: first };
  }

  /** The facts about a model. Its endpoint is asked for them once, with a short timeout, if it may know more. */
  async facts(model: ProviderModel): Promise<ModelFacts> {
    const { id, provider } = model;
    if (!this.#details.has(id)) {
      if (provider.kind === "ollama") await this.#askOllama(model);
      else if (provider.kind === "compatible") await this.#askEndpoint(model);
    }
    return this.factsNow(model);
  }

  /** The facts about a model without any request. What the user configured comes first. */
  factsNow({ id, provider, name }: ProviderModel): ModelFacts {
    const asked = this.#details.get(id);
    const own = settingsOf(this.#configured, id);
    const facts = { ...factsOf(provider.kind, name), ...asked };
    const published = provider.isOfficial ? this.#prices.published(`${provider.id}/${name}`) : undefined;
    return {
      ...facts,
      contextWindow: own?.contextWindow ?? facts.contextWindow,
      price: own?.price ?? facts.price ?? published,
    };
  }

  async #askOllama({ id, provider, name }: ProviderModel): Promise<void> {
    const body = JSON.stringify({ model: name });
    const ask = (path: string, given?: string) =>
      this.#request(ollamaUrl(provider, path), provider, LOCAL_TIMEOUT_MS, given);
    const [shown, running] = await Promise.all([ask("/api/show", body), ask("/api/ps")]);
    if (shown instanceof ListProblem || !isRecord(shown)) return;
    const facts = { ...factsOf(provider.kind, name), contextWindow: ollamaWindow(name, running, shown) };
    const canThink = Array.isArray(shown.capabilities) && shown.capabilities.includes("thinking");
    this.#details.set(id, canThink ? thinkingFacts(facts, name) : facts);
  }

  async #askEndpoint({ id, provider, name }: ProviderModel): Promise<void> {
    const { settings, problem } = await this.#list(provider);
    const listed = settings?.get(name) ?? {};
    const isComplete = listed.contextWindow !== undefined || !provider.isLocal || problem !== undefined;
    const more = isComplete ? {} : await this.#askLmStudio(provider, name);
    // An endpoint that could not be asked is asked again.
    if (problem === undefined) this.#details.set(id, { ...more, ...listed });
  }

  /** LM Studio states context windows only in its own API, beside the OpenAI one. */
  async #askLmStudio(provider: Provider, name: string): Promise<ModelSettings> {
    const { origin } = new URL(provider.baseUrl);
    const list = await this.#request(`${origin}/api/v0/models`, provider, LOCAL_TIMEOUT_MS);
    return list instanceof ListProblem ? {} : (settingsInList(list, MAX_MODELS).get(name) ?? {});
  }

  async #rows(provider: Provider): Promise<readonly Omit<ModelRow, "isDefault">[]> {
    const known =
      provider.kind === "openai" || provider.kind === "anthropic" ? KNOWN_MODELS[provider.kind] : [];
    const listed = await this.#list(provider);
    const names = [...new Set([...known.map(({ name }) => name), ...listed.names])];
    if (names.length === 0 && provider.isExpected) return [missingRow(provider, listed)];
    return names.map((name) => {
      const id = modelId(provider, name);
      return {
        id,
        displayName: known.find((model) => model.name === name)?.displayName ?? name,
        description: `By ${provider.label}.`,
        ...metaOf(this.factsNow({ id, provider, name })),
      };
    });
  }

  /** The model names of a provider, cached for a while. */
  #list(provider: Provider): Promise<ProviderList> {
    const cached = this.#names.get(provider.id);
    if (cached !== undefined && this.#clock.now() < cached.until) return cached.list;
    const list = this.#fetchList(provider, provider.isLocal ? LOCAL_TIMEOUT_MS : HOSTED_TIMEOUT_MS);
    const entry: CachedList = { list, until: Number.POSITIVE_INFINITY };
    this.#names.set(provider.id, entry);
    return list.then((found) => {
      entry.until = this.#clock.now() + (found.names.length === 0 ? EMPTY_CACHE_MS : CACHE_MS);
      return found;
    });
  }

  async #fetchList(provider: Provider, limit: number): Promise<ProviderList> {
    if (provider.models !== undefined) return { names: provider.models };
    const problem = provider.isLocal ? await connectProblem(provider.baseUrl, this.#clock, limit) : undefined;
    if (problem !== undefined) return { names: [], problem };
    const isOllama = provider.kind === "ollama";
    const address = isOllama ? ollamaUrl(provider, "/api/tags") : `${provider.baseUrl}/models`;
    const body = await this.#request(address, provider, limit);
    if (body instanceof ListProblem) return { names: [], problem: body.message };
    return { names: namesIn(body, provider), settings: settingsInList(body, MAX_MODELS) };
  }

  /** The JSON at a URL, or why there is none. */
  async #request(address: string, provider: Provider, limit: number, body?: string): Promise<unknown> {
    const abort = new AbortController();
    const cancel = this.#clock.after(limit, () =>
      abort.abort(new Error(`no answer within ${limit / 1000} s`)),
    );
    // Expected: no connection, a rejected key, a body that is not JSON. Known models are listed all the same.
    try {
      const headers = {
        ...keyHeaders(provider),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      };
      const post = body === undefined ? {} : { method: "POST", body };
      const response = await fetch(address, { ...post, headers, redirect: "error", signal: abort.signal });
      if (!response.ok) return new ListProblem(statusProblem(response.status, provider));
      return JSON.parse(await readUpTo(response, MAX_LIST_BYTES));
    } catch (thrown) {
      return new ListProblem(
        thrown instanceof SyntaxError ? "its response is not JSON" : networkReason(thrown),
      );
    } finally {
      cancel();
      abort.abort();
    }
  }
}

/** Stands in the list for a provider that the user set up but that lists no model. */
function missingRow(provider: Provider, list: ProviderList): Omit<ModelRow, "isDefault"> {
  return {
    id: modelId(provider, FIRST_LISTED),
    displayName: `${provider.label}: no model found`,
    description: noModelsMessage(provider, list),
  };
}

function noModelsMessage({ label, baseUrl }: Provider, { problem }: ProviderList): string {
  return `${label} at ${displayUrl(baseUrl)} lists no model${problem === undefined ? "" : ` (${problem})`}.`;
}

function noModel(provider: Provider, list: ProviderList): FlintError {
  const ways = `${provider.connectHint} You can also name a model with --model ${provider.id}/MODEL, or use --offline.`;
  return new FlintError("agentFailed", `${noModelsMessage(provider, list)} ${ways}`);
}

/** The models of a provider that are known without a request. */
function knownNames(provider: Provider): readonly string[] | undefined {
  if (provider.kind === "openai" || provider.kind === "anthropic")
    return KNOWN_MODELS[provider.kind].map(({ name }) => name);
  return provider.models;
}

/** OpenAI's list also has models for images, audio and embeddings. */
const NOT_FOR_TALK =
  /audio|dall-e|embedding|image|moderation|realtime|search|sora|transcribe|tts|whisper|babbage|davinci/;

function namesIn(list: unknown, { kind }: Provider): readonly string[] {
  const names = namesInList(list, MAX_MODELS);
  return kind === "openai" ? names.filter((name) => !NOT_FOR_TALK.test(name)) : names;
}
