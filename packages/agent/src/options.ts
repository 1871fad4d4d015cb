/** Where a model provider is and what lets us in. Comes from the user, never from a workspace. */
export interface Endpoint {
  /** Absent: the provider's own address. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** A provider of the user's own, that speaks the Chat Completions of OpenAI. */
export interface NamedEndpoint extends Endpoint {
  readonly name: string;
  readonly baseUrl: string;
  /** The variable that holds its key, to name it when the key is refused. */
  readonly keyVariable?: string | undefined;
  /** Its models, if it should not be asked for them. */
  readonly models?: readonly string[] | undefined;
}

/** The providers that can be reached. */
export interface ModelAccess {
  readonly openai?: Endpoint | undefined;
  readonly anthropic?: Endpoint | undefined;
  readonly ollama: Endpoint & {
    readonly baseUrl: string;
    /** Set if the user named its address, so that they miss it when it is not there. */
    readonly isConfigured?: boolean;
  };
  readonly others: readonly NamedEndpoint[];
}

/** What the agent may do on the web. All of it is off unless the user turned it on. */
export interface WebAccess {
  readonly fetch: boolean;
  /** The address of a search that answers in the way of SearXNG; `{query}` stands for what is searched. */
  readonly searchUrl?: string | undefined;
}

/** What the user chose for Flint's own agent. */
export interface NativeOptions {
  readonly access: ModelAccess;
  readonly web: WebAccess;
  /** The version of Flint, as MCP servers are told. */
  readonly version?: string | undefined;
  /** A file with a script for the offline model to play. */
  readonly offlineScript?: string | undefined;
}

/** Nothing but the offline model and whatever answers at Ollama's usual address. */
export const DEFAULT_NATIVE_OPTIONS: NativeOptions = {
  access: { ollama: { baseUrl: "http://127.0.0.1:11434" }, others: [] },
  web: { fetch: false },
};
