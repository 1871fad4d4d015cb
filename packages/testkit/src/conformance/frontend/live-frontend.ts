import { PassThrough } from "node:stream";
import type { Engine } from "@flint/core";
import { type ClientHost, type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import type { EventType, ItemType, ThreadEvent, Vocabulary } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import { streamTransport } from "@flint/rpc/node";
import type { Script } from "../../scripted/script.ts";
import { ScriptedDriver } from "../../scripted/scripted-driver.ts";
import { testEngine } from "../../test-engine.ts";
import { WireClient } from "../../wire-client.ts";

/** Any object of a wire. */
export type Fields = Readonly<Record<string, unknown>>;

/** A request: its method and its params. */
export type Call = readonly [method: string, params: object];

/** The messages of a protocol for what every client does. */
export interface ClientScript {
  /** True if messages carry the `jsonrpc` member. */
  readonly header: boolean;
  readonly initialize: Call;
  startThread(cwd: string): Call;
  /** The id in the answer to `startThread`. */
  threadIdOf(answer: Fields): unknown;
  /** Subscribes to a thread that another client started. */
  attach(threadId: string, cwd: string): Call;
  prompt(threadId: string, text: string): Call;
  /** True if a prompt is answered when its turn has ended, and by nothing else. */
  readonly answersAtEnd: boolean;
  /** A part of the line that reports the end of a turn. */
  readonly turnEnd: string;
  /** Reports whether a message asks for an approval. */
  isApproval(message: Fields): boolean;
  /** Returns the answer to an approval: a response, or a request of the client. */
  answer(approval: Fields, isAllowed: boolean): { readonly result: object } | { readonly call: Call };
  /** Lists the commands that the agent left running: in the answer, or in what is sent before it. */
  listBackground(threadId: string): Call;
  stopBackground(threadId: string, processId: string): Call;
  /** Reports whether a message says that an approval no longer needs an answer. */
  isWithdrawal(message: Fields, approval: Fields): boolean;
}

/** The messages of a handler to its client that the suite checks. */
export interface CheckedClient {
  readonly core: unknown;
  introduce(name: string): void;
  notify(method: string, params: object): void;
  sendLine(line: string): void;
  request(method: string, params: object, options?: object): Promise<unknown>;
  provideHost(threadId: string, host: ClientHost | undefined): void;
  isSubscribed(threadId: string): boolean;
  isOnlySubscriber(threadId: string): boolean;
}

/** The handler of one client, as far as the suite looks at it. */
export interface CheckedHandler {
  event(event: ThreadEvent): void;
  close?(): void;
}

/** A front end, as far as the suite looks at it. */
export interface CheckedFrontend {
  readonly vocabulary: Vocabulary;
  serve(client: never): CheckedHandler;
}

/** A front end, and what its clients send and receive. */
export interface FrontendUnderTest<F extends CheckedFrontend = CheckedFrontend> {
  /** A front end of a server, on a clock. */
  create(clock: Clock): F;
  /** Serves one client. */
  connect(frontend: F, engine: Engine, transport: Transport): unknown;
  readonly script: ClientScript;
  /** Events and items that clients of this protocol are intentionally not shown. */
  readonly notShown: { readonly events: readonly EventType[]; readonly items: readonly ItemType[] };
}

const CWD = "/code";

/** A server with one front end, whose handlers and what they send can be looked at. */
export class LiveFrontend<F extends CheckedFrontend> {
  readonly engine: Engine;
  readonly #underTest: FrontendUnderTest<F>;
  readonly #frontend: F;
  #latest: LiveHandler | undefined;

  /** The scripted agent plays the same script in every turn. */
  constructor(
    underTest: FrontendUnderTest<F>,
    script: Script = [],
    clock: Clock = SYSTEM_CLOCK,
    options: { readonly approvalTimeoutMs?: number; readonly driver?: ScriptedDriver } = {},
  ) {
    const { engine } = testEngine({
      driver: new ScriptedDriver({ scripts: () => script }),
      ...{ approvalPolicy: "always", cwd: CWD, clock: SYSTEM_CLOCK },
      ...options,
    });
    this.engine = engine;
    this.#underTest = underTest;
    const frontend = underTest.create(clock);
    // The same front end, but each handler that it makes is seen here.
    this.#frontend = Object.create(frontend, {
      serve: { value: (client: CheckedClient) => this.#serve(frontend, client) },
    });
  }

  /** A client that has sent nothing yet. */
  connect(): LiveClient {
    const { connect, script } = this.#underTest;
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    connect(this.#frontend, this.engine, streamTransport(toServer, toClient));
    if (this.#latest === undefined) throw new Error("The front end was not asked to serve the client.");
    return new LiveClient(
      WireClient.over(toClient, toServer, { header: script.header }),
      script,
      this.#latest,
    );
  }

  /** A client that is initialized. */
  async client(): Promise<LiveClient> {
    const client = this.connect();
    await client.request(this.#underTest.script.initialize);
    return client;
  }

  #serve(frontend: F, client: CheckedClient): CheckedHandler {
    const handler = new LiveHandler(client);
    // The client of the front end's own type was given to this function.
    handler.served = frontend.serve(handler.client as never);
    this.#latest = handler;
    return handler.watched();
  }
}

/** A handler, and how often it has sent something to its client. */
export class LiveHandler {
  readonly client: CheckedClient;
  /** Resolves when the connection has closed the handler. */
  readonly closed: Promise<void>;
  served: CheckedHandler = { event: () => undefined };
  sent = 0;
  #onClosed: () => void = () => undefined;

  constructor(client: CheckedClient) {
    this.client = {
      core: client.core,
      introduce: (name) => client.introduce(name),
      notify: (method, params) => this.#count(() => client.notify(method, params)),
      sendLine: (line) => this.#count(() => client.sendLine(line)),
      request: (method, params, options) => this.#count(() => client.request(method, params, options)),
      provideHost: (threadId, host) => client.provideHost(threadId, host),
      isSubscribed: (threadId) => client.isSubscribed(threadId),
      isOnlySubscriber: (threadId) => client.isOnlySubscriber(threadId),
    };
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
  }

  /** The handler as its connection gets it. */
  watched(): CheckedHandler {
    return new Proxy(this.served, {
      get: (served, name) => {
        const member: unknown = Reflect.get(served, name);
        if (name === "close") return () => this.#close(served);
        return typeof member === "function" ? member.bind(served) : member;
      },
    });
  }

  /** Returns the number of messages that events lead to. */
  sends(...events: readonly ThreadEvent[]): number {
    const before = this.sent;
    for (const event of events) this.served.event(event);
    return this.sent - before;
  }

  #close(served: CheckedHandler): void {
    served.close?.();
    this.#onClosed();
  }

  #count<Value>(send: () => Value): Value {
    this.sent += 1;
    return send();
  }
}

/** A client that follows its script. */
export class LiveClient {
  readonly wire: WireClient;
  readonly handler: LiveHandler;
  readonly #script: ClientScript;

  constructor(wire: WireClient, script: ClientScript, handler: LiveHandler) {
    this.wire = wire;
    this.handler = handler;
    this.#script = script;
  }

  async request([method, params]: Call): Promise<Fields> {
    return Object(await this.wire.request(method, params));
  }

  async startThread(): Promise<string> {
    return String(this.#script.threadIdOf(await this.request(this.#script.startThread(CWD))));
  }

  async attach(threadId: string): Promise<void> {
    await this.request(this.#script.attach(threadId, CWD));
  }

  /** Starts a turn. Resolves when it is answered, or at once if only its end is. */
  async prompt(threadId: string): Promise<void> {
    const answered = this.request(this.#script.prompt(threadId, "go"));
    if (this.#script.answersAtEnd) answered.catch(() => undefined);
    else await answered;
  }

  approval(after = 0): Promise<Fields> {
    return this.wire.waitFor((message) => this.#script.isApproval(message), { after });
  }

  async answer(approval: Fields, isAllowed: boolean): Promise<void> {
    const answer = this.#script.answer(approval, isAllowed);
    if ("call" in answer) await this.request(answer.call);
    else this.wire.answer(approval.id, answer.result);
  }

  withdrawal(approval: Fields): Promise<Fields> {
    return this.wire.waitFor((message) => this.#script.isWithdrawal(message, approval));
  }

  /** Resolves when the client has a message that contains a string. */
  async received(part: string): Promise<void> {
    await this.wire.waitFor((message) => JSON.stringify(message).includes(part));
  }
}
