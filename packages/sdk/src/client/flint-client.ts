import {
  type ConfigOption,
  emptyThread,
  isMethod,
  METHODS,
  type Method,
  type Model,
  type ParamsInput,
  type Result,
} from "@flint/protocol";
import { NewThreadEvents, type ThreadCursor, ThreadHandle } from "../thread/thread-handle.ts";
import { AppServerClient, type CallOptions, type ClientOptions, type Endpoint } from "./app-server-client.ts";

/** An initialized connection: every method of the protocol, and the common ones as plain functions. */
export class FlintClient extends AppServerClient {
  /** Every method under its own name: `client.methods["thread/list"]({ limit: 5 })`. */
  readonly methods: MethodSurface;
  #server: Result<"initialize"> | undefined;

  private constructor(endpoint: Endpoint, options: ClientOptions) {
    super(endpoint, options);
    this.methods = methodSurface((method, params, given) => this.call(method, params, given));
  }

  /** Initializes a new connection; if that fails, the connection is closed again. */
  static async open(
    endpoint: Endpoint,
    options: ClientOptions,
    initialize: ParamsInput<"initialize">,
    callOptions?: CallOptions,
  ): Promise<FlintClient> {
    const client = new FlintClient(endpoint, options);
    try {
      client.#server = await client.handshake(initialize, callOptions);
      return client;
    } catch (thrown) {
      // Nothing that was started may stay behind.
      await client.close();
      throw thrown;
    }
  }

  /** The server's answer to `initialize`. */
  get server(): Result<"initialize"> {
    if (this.#server === undefined) throw new Error("The server has not answered initialize yet.");
    return this.#server;
  }

  /** Starts a thread and subscribes to it. */
  async startThread(params: ParamsInput<"thread/start"> = {}, options?: CallOptions): Promise<ThreadHandle> {
    const started = new NewThreadEvents();
    const unsubscribe = this.subscribe(started);
    try {
      const { thread } = await this.call("thread/start", params, options);
      return new ThreadHandle(this, { ...emptyThread(thread.id), thread }, started.of(thread.id));
    } finally {
      unsubscribe();
    }
  }

  /** Resumes a stored thread, with changes if any are given. Resolves with its history in `state`. */
  resumeThread(
    threadId: string,
    params: Omit<ParamsInput<"thread/resume">, "threadId"> = {},
    options?: CallOptions,
  ): Promise<ThreadHandle> {
    return this.#handle(threadId, (thread) => thread.resume(params, options));
  }

  /** Subscribes to a thread from its current state, or from a position in its log. */
  attachThread(threadId: string, cursor: ThreadCursor = {}, options?: CallOptions): Promise<ThreadHandle> {
    return this.#handle(threadId, (thread) => thread.attach(cursor, options));
  }

  /** One page of threads, newest first. */
  listThreads(
    params: ParamsInput<"thread/list"> = {},
    options?: CallOptions,
  ): Promise<Result<"thread/list">> {
    return this.call("thread/list", params, options);
  }

  /** The models that threads can use. */
  async models(params: ParamsInput<"model/list"> = {}, options?: CallOptions): Promise<readonly Model[]> {
    return (await this.call("model/list", params, options)).data;
  }

  /** The selectors that the agent offers, for a thread or for new threads. */
  async configList(threadId?: string, options?: CallOptions): Promise<readonly ConfigOption[]> {
    return (await this.call("config/list", ofThread(threadId), options)).options;
  }

  /** Sets a selector and gives all of them, because one may change another. */
  async configSet(
    id: string,
    value: string,
    threadId?: string,
    options?: CallOptions,
  ): Promise<readonly ConfigOption[]> {
    return (await this.call("config/set", { id, value, ...ofThread(threadId) }, options)).options;
  }

  /** The configuration in force, for a thread or for new threads. */
  configRead(threadId?: string, options?: CallOptions): Promise<Result<"config/read">> {
    return this.call("config/read", ofThread(threadId), options);
  }

  /** The handle listens before the request is sent, so that nothing is missed. */
  async #handle(threadId: string, begin: (thread: ThreadHandle) => Promise<unknown>): Promise<ThreadHandle> {
    const thread = new ThreadHandle(this, emptyThread(threadId));
    try {
      await begin(thread);
      return thread;
    } catch (thrown) {
      // The caller never gets this handle, so it could not release it.
      thread.release();
      throw thrown;
    }
  }
}

function ofThread(threadId: string | undefined): { threadId?: string } {
  return threadId === undefined ? {} : { threadId };
}

/** The arguments of a method: params may be left out where none is required. */
export type MethodArguments<Name extends Method> =
  Partial<ParamsInput<Name>> extends ParamsInput<Name>
    ? [params?: ParamsInput<Name>, options?: CallOptions]
    : [params: ParamsInput<Name>, options?: CallOptions];

/** Every method of the protocol as a function under its own name. */
export type MethodSurface = {
  readonly [Name in Method]: (...given: MethodArguments<Name>) => Promise<Result<Name>>;
};

/** Calls a method of the server. */
export type Call = <Name extends Method>(
  method: Name,
  params: ParamsInput<Name>,
  options?: CallOptions,
) => Promise<Result<Name>>;

/** Makes one function for each row of the table of methods. */
export function methodSurface(call: Call): MethodSurface {
  const entries = Object.keys(METHODS)
    .filter(isMethod)
    .map((name) => [name, caller(call, name)]);
  // One entry for each row of the table, with the types of that row.
  return Object.fromEntries(entries) as MethodSurface;
}

function caller<Name extends Method>(call: Call, name: Name) {
  // Only a method whose params are all optional can be called without any.
  const none = {} as ParamsInput<Name>;
  return (params: ParamsInput<Name> = none, options?: CallOptions) => call(name, params, options);
}

/** The client's info, and handlers for requests and events of the server. */
export type ClientConnectOptions = ClientOptions & {
  readonly clientInfo?: ParamsInput<"initialize">["clientInfo"] | undefined;
  readonly capabilities?: ParamsInput<"initialize">["capabilities"] | undefined;
  /** Aborts connecting, and closes the client later. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of `initialize`; 30 s if absent. */
  readonly connectTimeoutMs?: number | undefined;
};

/** The default `clientInfo`. */
export const CLIENT_INFO = { name: "flint-sdk", version: "0.1.0" };

const CONNECT_TIMEOUT_MS = 30_000;

/** Initializes a connection to an endpoint, which is not made if the signal has aborted before. */
export async function openClient(
  makeEndpoint: () => Endpoint | Promise<Endpoint>,
  options: ClientConnectOptions,
): Promise<FlintClient> {
  const { signal, clientInfo = CLIENT_INFO, capabilities, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const initialize = { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) };
  const callOptions = { signal, timeoutMs: connectTimeoutMs };
  const client = await FlintClient.open(await makeEndpoint(), options, initialize, callOptions);
  if (signal !== undefined) closeOnAbort(client, signal);
  return client;
}

function closeOnAbort(client: FlintClient, signal: AbortSignal): void {
  const close = (): void => void client.close();
  signal.addEventListener("abort", close, { once: true });
  void client.closed.then(() => signal.removeEventListener("abort", close));
  if (signal.aborted) close();
}
