import type { ModelSettings } from "./models/prices.ts";

/** The URL and key of a model provider. They come from the user, never from a workspace. */
export interface Endpoint {
  /** Absent: the provider's own URL. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** A provider that the user added, with the Chat Completions API of OpenAI. */
export interface NamedEndpoint extends Endpoint {
  readonly name: string;
  readonly baseUrl: string;
  /** The variable of its key, to name it when the key is rejected. */
  readonly keyVariable?: string | undefined;
  /** Its models, if they should not be requested from it. */
  readonly models?: readonly string[] | undefined;
}

/** The configured providers. */
export interface ModelAccess {
  readonly openai?: Endpoint | undefined;
  readonly anthropic?: Endpoint | undefined;
  readonly ollama: Endpoint & {
    readonly baseUrl: string;
    /** Set if the user set its URL, so that it is an error if it does not answer. */
    readonly isConfigured?: boolean;
  };
  readonly others: readonly NamedEndpoint[];
}

/** The agent's access to the web. Everything is off by default. */
export interface WebAccess {
  readonly fetch: boolean;
  /** The URL of a search with the JSON format of SearXNG; `{query}` is replaced by the query. */
  readonly searchUrl?: string | undefined;
}

/** The options of Flint's own agent. */
export interface NativeOptions {
  readonly access: ModelAccess;
  readonly web: WebAccess;
  /** The version of Flint that is sent to MCP servers. */
  readonly version?: string | undefined;
  /** Settings of models that the user configured, by id. */
  readonly models?: ReadonlyMap<string, ModelSettings>;
  /** Number of model steps after which a turn stops, to be continued; 200 if absent. */
  readonly stepLimit?: number | undefined;
  /** A script file for the offline model. */
  readonly offlineScript?: string | undefined;
}

/** Only the offline model and Ollama at its default address. */
export const DEFAULT_NATIVE_OPTIONS: NativeOptions = {
  access: { ollama: { baseUrl: "http://127.0.0.1:11434" }, others: [] },
  web: { fetch: false },
};
