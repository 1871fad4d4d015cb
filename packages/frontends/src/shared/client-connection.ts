import type { ClientSession, Engine } from "@flint/core";
import type { ClientHost } from "@flint/core/ports";
import {
  asFlintError,
  FlintError,
  LIMITS,
  type Method,
  type Params,
  type Result,
  type ThreadEvent,
} from "@flint/protocol";
import {
  type Envelope,
  encodeError,
  encodeResult,
  encodeResultRaw,
  type Id,
  Peer,
  type PeerFault,
  type RequestOptions,
  type RpcError,
  type Trace,
  type Transport,
} from "@flint/rpc";
import { type ClientRights, isRevoked, LOCAL_RIGHTS, rightsError } from "./client-rights.ts";
import type { CoreCalls } from "./core-calls.ts";
import type { Client, ClientHandler, Frontend, RequestContext } from "./frontend.ts";

/** Properties of a client that follow from the way it connected. */
export interface ConnectionOptions {
  readonly trace?: Trace | undefined;
  /** Rights of the client; all those of the user, if absent. */
  readonly rights?: ClientRights | undefined;
  /** Default folder of the client; the server's own, if absent. */
  readonly cwd?: string | undefined;
}

/** Serves one client until it disconnects: what it sends goes to its handler, what the handler calls goes to the core. */
export class ClientConnection implements Client {
  /** Resolves when the client is gone. */
  readonly closed: Promise<Error | undefined>;
  readonly core: CoreCalls;
  readonly #peer: Peer;
  readonly #session: ClientSession;
  readonly #handler: ClientHandler;
  readonly #header: boolean;
  #running = 0;
  #onIdle: (() => void)[] = [];

  constructor(frontend: Frontend, engine: Engine, transport: Transport, options: ConnectionOptions = {}) {
    const { trace, rights = LOCAL_RIGHTS, cwd } = options;
    const { reading } = frontend;
    this.#header = frontend.vocabulary.header;
    this.#peer = new Peer(transport, {
      header: this.#header,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method, params) => this.#onRequest(id, method, params),
        notification: (method, params) => this.#handler.notification(method, params),
        bad: (fault) => this.#onMalformed(fault),
      },
      ...(trace === undefined ? {} : { trace }),
      ...(reading === undefined ? {} : { reading }),
    });
    this.core = { call: this.#callWith(rights) };
    const handler = frontend.serve(this);
    this.#handler = handler;
    const subscriber = {
      // A token that is revoked while its client is connected ends the connection.
      send: (event: ThreadEvent) => (isRevoked(rights) ? this.#peer.close() : handler.event(event)),
      isFull: () => this.#peer.outbox.full,
      // A limited client learns nothing of threads.
      ...(handler.threadListEvent === undefined || rights.only !== undefined
        ? {}
        : { announce: (event: ThreadEvent) => handler.threadListEvent?.(event) }),
    };
    this.#session = engine.connect(subscriber, cwd);
    this.#peer.outbox.onDrain(() => this.#session.drained());
    this.closed = this.#peer.closed;
    void this.closed.then(() => this.#onClosed());
    this.#peer.start();
  }

  /** Resolves when every request so far has its answer. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Sends what is queued, then closes the connection. */
  async close(): Promise<void> {
    await this.#peer.outbox.flushed();
    this.#peer.close();
  }

  introduce(name: string): void {
    this.#session.introduce(name);
  }

  notify(method: string, params: object): void {
    this.#peer.notify(method, params);
  }

  sendLine(line: string): void {
    this.#peer.sendLine(line);
  }

  request(method: string, params: object, options: RequestOptions = {}): Promise<unknown> {
    return this.#peer.request(method, params, options);
  }

  provideHost(threadId: string, host: ClientHost | undefined): void {
    this.#session.provideHost(threadId, host);
  }

  isSubscribed(threadId: string): boolean {
    return this.#session.isSubscribed(threadId);
  }

  isOnlySubscriber(threadId: string): boolean {
    return this.#session.isOnlySubscriber(threadId);
  }

  /** Every call of every front end passes here. */
  #callWith(rights: ClientRights): CoreCalls["call"] {
    return <Name extends Method>(
      method: Name,
      params: Params<Name>,
      respond?: (result: Result<Name>) => void,
    ) =>
      new Promise<Result<Name>>((resolve, reject) => {
        const error = rightsError(rights, method, params);
        if (error !== undefined) throw error;
        const respondFirst = (result: Result<Name>): void => {
          // Some requests wait for minutes.
          const revoked = isRevoked(rights) ? rightsError(rights, method, params) : undefined;
          if (revoked !== undefined) {
            reject(revoked);
            return;
          }
          respond?.(result);
          resolve(result);
        };
        this.#session.call(method, params, respondFirst).catch(reject);
      });
  }

  #onClosed(): void {
    this.#session.close();
    this.#handler.close?.();
  }

  async #onRequest(id: Id, method: string, params: unknown): Promise<void> {
    this.#running += 1;
    const send = (line: string): void => this.#peer.sendLine(line);
    const context = new IncomingRequest(id, method, this.core, { header: this.#header }, send);
    try {
      await this.#handler.request(params, context);
    } catch (error) {
      // Every failed request is answered here, with the code that this front end has for the error.
      context.fail(this.#handler.errorOf(asFlintError(error)));
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  #onMalformed({ id, fault, message, bytes, limit }: PeerFault): void {
    const kind = fault === "invalid" ? "invalidRequest" : "parseError";
    const size = limit === undefined ? {} : { bytes, limit, promptLimit: LIMITS.prompt };
    const error = new FlintError(kind, `Not a message: ${message}.`, size);
    const handler = this.#handler;
    const answer = handler.malformed === undefined ? handler.errorOf(error) : handler.malformed(error);
    if (answer !== undefined) this.#peer.replyError(id, answer);
  }
}

/** A request that is being handled. Sends at most one answer. */
class IncomingRequest implements RequestContext {
  readonly id: Id;
  readonly method: string;
  readonly core: CoreCalls;
  readonly #envelope: Envelope;
  readonly #send: (line: string) => void;
  #isAnswered = false;

  constructor(id: Id, method: string, core: CoreCalls, envelope: Envelope, send: (line: string) => void) {
    this.id = id;
    this.method = method;
    this.core = core;
    this.#envelope = envelope;
    this.#send = send;
  }

  readonly reply = (answer: unknown): void => this.#answer(encodeResult(this.id, answer, this.#envelope));

  readonly replyEncoded = (json: string): void =>
    this.#answer(encodeResultRaw(this.id, json, this.#envelope));

  fail(error: RpcError): void {
    this.#answer(encodeError(this.id, error, this.#envelope));
  }

  #answer(line: string): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#send(line);
  }
}
