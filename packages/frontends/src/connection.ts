import type { ClientSession, Engine } from "@flint/core";
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
  type Id,
  Peer,
  type PeerFault,
  type Reading,
  type RequestOptions,
  type Trace,
  type Transport,
} from "@flint/rpc";
import type { Desk, DeskClient, DoorService } from "./desk.ts";
import { type ClientRights, LOCAL_RIGHTS, refusedBy } from "./rights.ts";

/** How a connection is made. */
export interface ConnectionOptions {
  /** Whether every message carries the `jsonrpc` member. */
  readonly header: boolean;
  readonly trace?: Trace | undefined;
  readonly reading?: Reading | undefined;
  /** What the client may do; everything that its user may, if absent. */
  readonly rights?: ClientRights | undefined;
  /** Where the client works when it names no folder; where the server does, if absent. */
  readonly cwd?: string | undefined;
}

/** The only loop between a wire and the core: requests in, answers and events out, through the desk of the door. */
export class Connection implements DeskClient {
  /** Resolves when the client is gone. */
  readonly closed: Promise<Error | undefined>;
  readonly #peer: Peer;
  readonly #session: ClientSession;
  readonly #desk: Desk;
  readonly #rights: ClientRights;
  #running = 0;
  #onIdle: (() => void)[] = [];

  constructor(service: DoorService, engine: Engine, transport: Transport, options: ConnectionOptions) {
    const { header, trace, reading, rights = LOCAL_RIGHTS, cwd } = options;
    this.#rights = rights;
    this.#peer = new Peer(transport, {
      header,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method, params) => this.#onRequest(id, method, params),
        notification: (method, params) => this.#desk.notification(method, params),
        bad: (fault) => this.#onBad(fault),
      },
      ...(trace === undefined ? {} : { trace }),
      ...(reading === undefined ? {} : { reading }),
    });
    const desk = service.open(this);
    this.#desk = desk;
    const subscriber = {
      send: (event: ThreadEvent) => desk.tell(event),
      isFull: () => this.#peer.outbox.full,
      ...(desk.announced === undefined ? {} : { announce: (event: ThreadEvent) => desk.announced?.(event) }),
    };
    this.#session = engine.connect(subscriber, cwd);
    this.#peer.outbox.onRelief(() => this.#session.drained());
    this.closed = this.#peer.closed;
    void this.closed.then(() => this.#onClosed());
    this.#peer.start();
  }

  /** Resolves when every request so far has its answer. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Sends what is queued, then leaves. */
  async close(): Promise<void> {
    await this.#peer.outbox.flushed();
    this.#peer.close();
  }

  leave(): Promise<void> {
    return this.close();
  }

  call<Name extends Method>(
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    // Every call of every door passes here.
    const refusal = refusedBy(this.#rights, params);
    return refusal === undefined ? this.#session.call(method, params, respond) : Promise.reject(refusal);
  }

  notify(method: string, params: object): void {
    this.#peer.notify(method, params);
  }

  sendLine(line: string): void {
    this.#peer.sendLine(line);
  }

  ask(method: string, params: object, options: RequestOptions = {}): Promise<unknown> {
    return this.#peer.request(method, params, options);
  }

  follows(threadId: string): boolean {
    return this.#session.isSubscribed(threadId);
  }

  alone(threadId: string): boolean {
    return this.#session.isOnlySubscriber(threadId);
  }

  #onClosed(): void {
    this.#session.close();
    this.#desk.closed?.();
  }

  async #onRequest(id: Id, method: string, params: unknown): Promise<void> {
    this.#running += 1;
    try {
      await this.#desk.request(method, params, (answer) => this.#peer.reply(id, answer), id);
    } catch (error) {
      // Every failure of a request leaves here, under the number that this door has for it.
      this.#refuse(id, asFlintError(error));
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  #refuse(id: Id, error: FlintError): void {
    this.#peer.replyError(id, this.#desk.refusal(error));
  }

  #onBad({ id, fault, message, bytes, limit }: PeerFault): void {
    const kind = fault === "invalid" ? "invalidRequest" : "parseError";
    const size = limit === undefined ? {} : { bytes, limit, promptLimit: LIMITS.prompt };
    const error = new FlintError(kind, `Not a message: ${message}.`, size);
    const desk = this.#desk;
    const refusal = desk.nonsense === undefined ? desk.refusal(error) : desk.nonsense(error);
    if (refusal !== undefined) this.#peer.replyError(id, refusal);
  }
}
