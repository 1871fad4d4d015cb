import { connect } from "node:net";
import type { Clock } from "@flint/core/ports";
import { FlintError, isRecord, type Model as ModelRow } from "@flint/protocol";
import { displayUrl } from "./ai-sdk/clean-text.ts";
import { networkReason } from "./ai-sdk/http-connection.ts";
import { factsOf, KNOWN_MODELS, type ModelFacts, thinkingFacts } from "./model-facts.ts";
import { FIRST_LISTED, modelId, OFFLINE_ID, type Provider, type ProviderModel } from "./providers.ts";

/** How long a list is waited for, and how long it is believed. */
const LOCAL_LIMIT_MS = 300;
const HOSTED_LIMIT_MS = 1500;
/** The same where nothing can be done without it. */
const PATIENT_LIMIT_MS = 10_000;
const BELIEVED_MS = 60_000;
/** A server that was not there may just be starting. */
const NOTHING_BELIEVED_MS = 5000;

const LARGEST_LIST = 4 * 1_048_576;
const MOST_MODELS = 1000;

const OFFLINE: Omit<ModelRow, "isDefault"> = {
  id: OFFLINE_ID,
  displayName: "Flint offline model",
  description: "Follows fixed rules. Needs no key and no network; always answers the same way.",
};

/** What a provider lists; if that is nothing, also why. */
interface Listed {
  readonly names: readonly string[];
  readonly problem?: string;
}

interface RememberedList {
  readonly list: Promise<Listed>;
  until: number;
}

/** What all providers offer now. A provider that does not answer soon offers what is known about it anyway. */
export class ModelListing {
  readonly #providers: readonly Provider[];
  readonly #clock: Clock;
  readonly #names = new Map<string, RememberedList>();
  readonly #details = new Map<string, ModelFacts>();

  constructor(providers: readonly Provider[], clock: Clock) {
    this.#providers = providers.filter(({ isConfigured }) => isConfigured);
    this.#clock = clock;
  }

  /** Every model; exactly one is the default. */
  async models(): Promise<readonly ModelRow[]> {
    const lists = await Promise.all(this.#providers.map((provider) => this.#rows(provider)));
    const rows = [...lists.flat(), OFFLINE];
    const unique = rows.filter((row, place) => rows.findIndex(({ id }) => id === row.id) === place);
    return unique.map((row, place) => ({ ...row, isDefault: place === 0 }));
  }

  /**
   * The model of a thread that names none: of the first provider that has one. One that the user counts on is never
   * passed over: if it lists nothing, its turns fail with the reason. Asks no more of them than it must.
   */
  async defaultModel(): Promise<string> {
    for (const provider of this.#providers) {
      const [first] = startNames(provider) ?? (await this.#listed(provider)).names;
      if (first !== undefined) return modelId(provider, first);
      if (provider.isExpected) return modelId(provider, FIRST_LISTED);
    }
    return OFFLINE_ID;
  }

  /** The model itself, or the one that its provider lists first if only that was meant. Rejects with the way out. */
  async resolved(model: ProviderModel): Promise<ProviderModel> {
    const { provider, name } = model;
    if (name !== FIRST_LISTED) return model;
    const names = startNames(provider) ?? [];
    const asked = names.length > 0 ? { names } : await this.#asked(provider, PATIENT_LIMIT_MS);
    const [first] = asked.names;
    if (first === undefined) throw noModel(provider, asked);
    return { id: modelId(provider, first), provider, name: first };
  }

  /** What is known about a model; a server of the user's own is asked, but not waited for long. */
  async facts({ id, provider, name }: ProviderModel): Promise<ModelFacts> {
    const known = this.factsNow({ id, provider, name });
    if (provider.kind !== "ollama" || this.#details.has(id)) return known;
    const body = JSON.stringify({ model: name });
    const shown = await this.#ask(ollamaUrl(provider, "/api/show"), provider, LOCAL_LIMIT_MS, body);
    if (shown instanceof ListProblem || !isRecord(shown)) return known;
    const facts = { ...known, contextWindow: windowIn(shown) };
    const canThink = Array.isArray(shown.capabilities) && shown.capabilities.includes("thinking");
    this.#details.set(id, canThink ? thinkingFacts(facts, name) : facts);
    return this.factsNow({ id, provider, name });
  }

  /** What is known about a model without asking anybody. */
  factsNow({ id, provider, name }: ProviderModel): ModelFacts {
    return this.#details.get(id) ?? factsOf(provider.kind, name);
  }

  async #rows(provider: Provider): Promise<readonly Omit<ModelRow, "isDefault">[]> {
    const known =
      provider.kind === "openai" || provider.kind === "anthropic" ? KNOWN_MODELS[provider.kind] : [];
    const listed = await this.#listed(provider);
    const names = [...new Set([...known.map(({ name }) => name), ...listed.names])];
    if (names.length === 0 && provider.isExpected) return [missingRow(provider, listed)];
    return names.map((name) => ({
      id: modelId(provider, name),
      displayName: known.find((model) => model.name === name)?.displayName ?? name,
      description: `By ${provider.label}.`,
    }));
  }

  /** The names a provider gives; what it gave is believed for a while. */
  #listed(provider: Provider): Promise<Listed> {
    const remembered = this.#names.get(provider.id);
    if (remembered !== undefined && this.#clock.now() < remembered.until) return remembered.list;
    const list = this.#asked(provider, provider.isLocal ? LOCAL_LIMIT_MS : HOSTED_LIMIT_MS);
    const asked: RememberedList = { list, until: Number.POSITIVE_INFINITY };
    this.#names.set(provider.id, asked);
    return list.then((found) => {
      asked.until = this.#clock.now() + (found.names.length === 0 ? NOTHING_BELIEVED_MS : BELIEVED_MS);
      return found;
    });
  }

  async #asked(provider: Provider, limit: number): Promise<Listed> {
    if (provider.models !== undefined) return { names: provider.models };
    const absence = provider.isLocal ? await absenceAt(provider.baseUrl, this.#clock, limit) : undefined;
    if (absence !== undefined) return { names: [], problem: absence };
    const isOllama = provider.kind === "ollama";
    const address = isOllama ? ollamaUrl(provider, "/api/tags") : `${provider.baseUrl}/models`;
    const answer = await this.#ask(address, provider, limit);
    if (answer instanceof ListProblem) return { names: [], problem: answer.message };
    return { names: namesIn(answer, provider) };
  }

  /** What an address answers, or why that cannot be told. */
  async #ask(address: string, provider: Provider, limit: number, body?: string): Promise<unknown> {
    const abort = new AbortController();
    const cancel = this.#clock.after(limit, () =>
      abort.abort(new Error(`no answer within ${limit / 1000} s`)),
    );
    // Expected: nobody there, nobody let in, no JSON. The models that are known anyway are offered all the same.
    try {
      const headers = {
        ...keyHeaders(provider),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      };
      const post = body === undefined ? {} : { method: "POST", body };
      const response = await fetch(address, { ...post, headers, redirect: "error", signal: abort.signal });
      if (!response.ok) return new ListProblem(refusalOf(response.status, provider));
      return JSON.parse(await readUpTo(response, LARGEST_LIST));
    } catch (thrown) {
      return new ListProblem(
        thrown instanceof SyntaxError ? "its answer is not JSON" : networkReason(thrown),
      );
    } finally {
      cancel();
      abort.abort();
    }
  }
}

/** Why a list could not be had. */
class ListProblem extends Error {
  override readonly name = "ListProblem";
}

function refusalOf(status: number, { authHint }: Provider): string {
  const isKey = status === 401 || status === 403;
  return isKey ? `HTTP ${status}; ${authHint.replace(/\.$/, "")}` : `HTTP ${status}`;
}

/** Stands in the list for a provider that the user counts on, so that its absence is seen. */
function missingRow(provider: Provider, listed: Listed): Omit<ModelRow, "isDefault"> {
  return {
    id: modelId(provider, FIRST_LISTED),
    displayName: `${provider.label}: no model found`,
    description: absenceOf(provider, listed),
  };
}

function absenceOf({ label, baseUrl }: Provider, { problem }: Listed): string {
  return `${label} at ${displayUrl(baseUrl)} lists no model${problem === undefined ? "" : ` (${problem})`}.`;
}

function noModel(provider: Provider, listed: Listed): FlintError {
  const ways = `${provider.connectHint} You can also name a model with --model ${provider.id}/MODEL, or use --offline.`;
  return new FlintError("agentFailed", `${absenceOf(provider, listed)} ${ways}`);
}

/** What a provider offers without being asked. */
function startNames(provider: Provider): readonly string[] | undefined {
  if (provider.kind === "openai" || provider.kind === "anthropic")
    return KNOWN_MODELS[provider.kind].map(({ name }) => name);
  return provider.models;
}

function keyHeaders({ kind, apiKey }: Provider): Record<string, string> {
  if (apiKey === undefined) return {};
  if (kind !== "anthropic") return { authorization: `Bearer ${apiKey}` };
  return { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
}

function ollamaUrl({ baseUrl }: Provider, path: string): string {
  return `${baseUrl.replace(/\/v\d+$/, "")}${path}`;
}

/** OpenAI's list also has models that make images, sounds and numbers. */
const NOT_FOR_TALK =
  /audio|dall-e|embedding|image|moderation|realtime|search|sora|transcribe|tts|whisper|babbage|davinci/;

function namesIn(list: unknown, { kind }: Provider): readonly string[] {
  const rows = isRecord(list) ? (list.data ?? list.models) : list;
  const names = (Array.isArray(rows) ? rows.slice(0, MOST_MODELS) : []).flatMap((row) => {
    const name = isRecord(row) ? (row.id ?? row.name ?? row.model) : row;
    return typeof name === "string" && name !== "" ? [name] : [];
  });
  return kind === "openai" ? names.filter((name) => !NOT_FOR_TALK.test(name)) : names;
}

/** The window that a model was set up with, else the largest it was made for. */
function windowIn(shown: Record<string, unknown>): number | undefined {
  const [, set] =
    typeof shown.parameters === "string" ? (/^num_ctx\s+(\d+)/m.exec(shown.parameters) ?? []) : [];
  if (set !== undefined) return Number(set);
  const info = isRecord(shown.model_info) ? Object.entries(shown.model_info) : [];
  const made = info.find(([key, value]) => key.endsWith(".context_length") && typeof value === "number")?.[1];
  return typeof made === "number" ? made : undefined;
}

/** Why nobody listens at an address of this machine, if so. Costs less than the first request of a process. */
function absenceAt(address: string, clock: Clock, limit: number): Promise<string | undefined> {
  if (!URL.canParse(address)) return Promise.resolve("that is not a URL");
  const { hostname, port, protocol } = new URL(address);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || (protocol === "https:" ? 443 : 80)) });
    const done = (answer: string | undefined) => {
      cancel();
      socket.destroy();
      resolve(answer);
    };
    const cancel = clock.after(limit, () => done(`no answer within ${limit / 1000} s`));
    socket.once("connect", () => done(undefined)).once("error", (error) => done(networkReason(error)));
  });
}

async function readUpTo(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > limit) break;
  }
  return text;
}
