import {
  FlintError,
  lazy,
  type Method,
  type Params,
  type ParamsOf,
  type RequestOf,
  type Result,
  shortened,
  type ThreadEvent,
  type Vocabulary,
} from "@flint/protocol";
import type { RpcError } from "@flint/rpc";
import { ClientAsks } from "./client-asks.ts";
import { callCore } from "./core-calls.ts";
import { Encoder, type Outgoing } from "./encoder.ts";
import type { Client, ClientHandler, Frontend, RequestContext } from "./frontend.ts";
import { parseParams } from "./parse-params.ts";

/** A request as a call of the core, with how the result becomes the answer. */
export type RequestCall = {
  [Name in Method]: {
    readonly method: Name;
    readonly params: Params<Name>;
    answer(result: Result<Name>): unknown;
    /** The point from which the client is subscribed to a thread once it has the answer, if it is not yet. */
    attach?(result: Result<Name>): Params<"thread/attach">;
  };
}[Method];

/** Maps each request to a call of the core. Exhaustive: a missing method does not compile. */
export type RequestTable<V extends Vocabulary = Vocabulary> = {
  readonly [Name in RequestOf<V>]: (params: ParamsOf<V, Name>) => RequestCall;
};

/** The tables of a front end that consists of tables only. Both are pure. */
export interface Tables<V extends Vocabulary = Vocabulary> {
  readonly vocabulary: V;
  readonly initializeFirst: boolean;
  /** True if a client can ask in `initialize` for the events that change how threads are listed. */
  readonly announcesThreads?: boolean | undefined;
  readonly requests: RequestTable<V>;
  /** Converts an event to messages of this wire. */
  events(event: ThreadEvent): readonly Outgoing[];
}

/** A front end in which each request is one call of the core and each event alone decides what it becomes. */
export class TableFrontend<V extends Vocabulary = Vocabulary> implements Frontend, Tables<V> {
  readonly vocabulary: V;
  readonly initializeFirst: boolean;
  readonly announcesThreads: boolean;
  readonly requests: RequestTable<V>;
  readonly events: (event: ThreadEvent) => readonly Outgoing[];
  readonly #encoder: Encoder;

  constructor({ vocabulary, initializeFirst, announcesThreads = false, requests, events }: Tables<V>) {
    this.announcesThreads = announcesThreads;
    this.vocabulary = vocabulary;
    this.initializeFirst = initializeFirst;
    this.requests = requests;
    this.events = events;
    this.#encoder = new Encoder(vocabulary.header);
  }

  serve(client: Client): ClientHandler {
    // Requests are looked up by name, and parsed by the row of that name, before they get here.
    const tables = this as unknown as Tables;
    return new TableClientHandler(tables, client, this.#encoder);
  }
}

class TableClientHandler implements ClientHandler {
  readonly #tables: Tables;
  readonly #client: Client;
  readonly #encoder: Encoder;
  readonly #asks: ClientAsks;
  readonly threadListEvent?: (event: ThreadEvent) => void;
  #isInitialized = false;
  #wantsThreadList = false;
  #hasExperimental = false;
  /** The notifications that the client does not want. */
  #optedOut: ReadonlySet<string> = new Set();

  constructor(tables: Tables, client: Client, encoder: Encoder) {
    if (tables.announcesThreads === true) {
      this.threadListEvent = (event) => {
        if (this.#wantsThreadList) this.event(event);
      };
    }
    this.#tables = tables;
    this.#client = client;
    this.#encoder = encoder;
    this.#asks = new ClientAsks(client);
  }

  async request(params: unknown, context: RequestContext): Promise<void> {
    const call = this.#parse(params, context.method);
    // A call holds a method with its own result; the union has lost which belong together.
    const answer = call.answer as (result: Result<Method>) => unknown;
    const attach = call.attach as ((result: Result<Method>) => Params<"thread/attach">) | undefined;
    let attaching: (() => Promise<void>) | undefined;
    await callCore(context.core, call, (result) => {
      const from = attach?.(result);
      const reply = lazy(() => context.reply(answer(result)));
      if (from === undefined || this.#client.isSubscribed(from.threadId)) reply();
      else attaching = () => this.#attach(from, reply);
    });
    await attaching?.();
  }

  notification(): void {
    // These protocols have no notifications from clients.
  }

  event(event: ThreadEvent): void {
    for (const message of this.#encoder.encode(event, this.#tables.events)) {
      if (message.kind === "line") {
        if (!this.#optedOut.has(message.notification.method)) this.#client.sendLine(message.line);
      } else if (message.kind === "ask") this.#asks.ask(message);
      else this.#asks.resolve(message.key);
    }
  }

  errorOf(error: FlintError): RpcError {
    const code = this.#tables.vocabulary.errorCodes[error.kind];
    return { code, message: error.message, data: { ...error.data, reason: error.kind } };
  }

  close(): void {
    this.#asks.forgetAll();
  }

  #parse(params: unknown, method: string): RequestCall {
    const { vocabulary, initializeFirst, requests } = this.#tables;
    const isInitialize = method === "initialize";
    if (initializeFirst && !isInitialize && !this.#isInitialized) {
      throw new FlintError(
        "notInitialized",
        `Send "initialize" before ${JSON.stringify(shortened(method, 100))}.`,
      );
    }
    if (initializeFirst && isInitialize && this.#isInitialized) {
      throw new FlintError("alreadyInitialized", "This connection is initialized already; open another one.");
    }
    const row = Object.hasOwn(vocabulary.requests, method) ? vocabulary.requests[method] : undefined;
    const toCall = Object.hasOwn(requests, method) ? requests[method] : undefined;
    if (row === undefined || toCall === undefined) {
      const known = Object.keys(vocabulary.requests).join(", ");
      const message = `Unknown method ${JSON.stringify(shortened(method, 100))}. The ${vocabulary.name} protocol has: ${known}.`;
      throw new FlintError("methodNotFound", message);
    }
    if (row.experimental === true && !this.#hasExperimental) {
      const message = `${method} is experimental: initialize with capabilities { "experimentalApi": true } to use it.`;
      throw new FlintError("invalidRequest", message, { method });
    }
    const call = toCall(parseParams(row, method, params));
    // Set before the answer is sent: a client may send further requests without waiting for it.
    if (isInitialize) this.#initialize(call);
    return call;
  }

  #initialize(call: RequestCall): void {
    this.#isInitialized = true;
    if (call.method !== "initialize") return;
    const { experimentalApi, threadList, optOutNotificationMethods = [] } = call.params.capabilities ?? {};
    this.#hasExperimental = experimentalApi === true;
    this.#wantsThreadList = threadList === true;
    this.#optedOut = new Set(optOutNotificationMethods);
  }

  /** Subscribes and replies before any event is sent, so that nothing after the answer is missed. */
  async #attach(from: Params<"thread/attach">, reply: () => void): Promise<void> {
    try {
      await this.#client.core.call("thread/attach", from, reply);
    } catch {
      // A thread that another process has open can be read but not attached to.
      reply();
    }
  }
}
