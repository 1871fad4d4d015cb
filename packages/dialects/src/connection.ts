import type { ClientSession, Engine } from "@flint/core";
import {
  asFlintError,
  FlintError,
  LIMITS,
  type Params,
  type RequestRow,
  type Result,
  type ThreadEvent,
} from "@flint/protocol";
import { type Id, Peer, type PeerFault, RemoteError, type Trace, type Transport } from "@flint/rpc";
import type { CoreCall, Dialect, Outbound } from "./dialect.ts";
import type { Encoded } from "./encoded.ts";
import { problemsOf } from "./problems.ts";

/** What a connection needs of its door. */
export interface ConnectionDoor {
  readonly dialect: Dialect;
  encode(event: ThreadEvent): readonly Encoded[];
}

type AskMessage = Extract<Outbound, { kind: "ask" }>;

/** The only loop between a wire and the core: requests in, answers and events out. */
export class Connection {
  /** Resolves when the client is gone. */
  readonly closed: Promise<Error | undefined>;
  readonly #door: ConnectionDoor;
  readonly #peer: Peer;
  readonly #session: ClientSession;
  readonly #asks = new Map<string, AbortController>();
  #initialized = false;
  #running = 0;
  #onIdle: (() => void)[] = [];

  constructor(door: ConnectionDoor, engine: Engine, transport: Transport, trace?: Trace) {
    this.#door = door;
    const handlers = {
      request: (id: Id, method: string, params: unknown) => this.#onRequest(id, method, params),
      notification: () => undefined,
      bad: (fault: PeerFault) => this.#onBad(fault),
    };
    const { header } = door.dialect.vocabulary;
    const limits = { lineLimit: LIMITS.line, queueLimit: LIMITS.clientQueue };
    this.#peer = new Peer(transport, {
      header,
      ...limits,
      handlers,
      ...(trace === undefined ? {} : { trace }),
    });
    this.#session = engine.connect({
      tell: (event) => this.#tell(event),
      full: () => this.#peer.outbox.full,
    });
    this.#peer.outbox.onRelief(() => this.#session.relieved());
    this.closed = this.#peer.closed;
    void this.closed.then(() => this.#session.close());
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

  async #onRequest(id: Id, method: string, params: unknown): Promise<void> {
    this.#running += 1;
    try {
      const call = this.#understand(method, params);
      await this.#call(call, (result) => this.#peer.reply(id, result));
    } catch (error) {
      // Every failure of a request leaves here, under the number that this door has for it.
      this.#refuse(id, asFlintError(error));
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  #understand(method: string, params: unknown): CoreCall {
    const { vocabulary, initializeFirst, inbound } = this.#door.dialect;
    const isInitialize = method === "initialize";
    if (initializeFirst && !isInitialize && !this.#initialized) {
      throw new FlintError("notInitialized", `Send "initialize" before ${JSON.stringify(shorten(method))}.`);
    }
    if (initializeFirst && isInitialize && this.#initialized) {
      throw new FlintError("alreadyInitialized", "This connection is initialized already; open another one.");
    }
    const row = Object.hasOwn(vocabulary.requests, method) ? vocabulary.requests[method] : undefined;
    const toCall = Object.hasOwn(inbound, method) ? inbound[method] : undefined;
    if (row === undefined || toCall === undefined) {
      const message = `Unknown method ${JSON.stringify(shorten(method))}. The ${vocabulary.name} door knows: ${Object.keys(vocabulary.requests).join(", ")}.`;
      throw new FlintError("methodNotFound", message);
    }
    const call = toCall(parseParams(row, method, params));
    // From here on, not from the answer on: a client may send what follows in the same breath.
    if (isInitialize) this.#initialized = true;
    return call;
  }

  #call(call: CoreCall, respond: (answer: unknown) => void): Promise<void> {
    const { method, params, answer } = call;
    // A core call holds a method with its own params and result; the union has lost which belongs to which.
    const mapped = answer as (result: Result<typeof method>) => unknown;
    return this.#session.call(method, params as Params<typeof method>, (result) => respond(mapped(result)));
  }

  #refuse(id: Id, error: FlintError): void {
    const code = this.#door.dialect.vocabulary.errorCodes[error.kind];
    this.#peer.replyError(id, { code, message: error.message, data: { ...error.data, reason: error.kind } });
  }

  #onBad({ id, fault, message, bytes, limit }: PeerFault): void {
    const kind = fault === "invalid" ? "invalidRequest" : "parseError";
    const size = limit === undefined ? {} : { bytes, limit, promptLimit: LIMITS.prompt };
    this.#refuse(id, new FlintError(kind, `Not a message: ${message}.`, size));
  }

  #tell(event: ThreadEvent): void {
    for (const message of this.#door.encode(event)) {
      if (message.kind === "line") this.#peer.sendLine(message.line);
      else if (message.kind === "ask") void this.#ask(message);
      else this.#settle(message.key);
    }
  }

  /** Asks the client once for each open question; whoever answers first, here or elsewhere, has answered. */
  async #ask(ask: AskMessage): Promise<void> {
    if (this.#asks.has(ask.key)) return;
    const settled = new AbortController();
    this.#asks.set(ask.key, settled);
    try {
      const answer = await this.#peer.request(ask.method, ask.params, { signal: settled.signal });
      if (this.#asks.delete(ask.key)) await this.#call(ask.answered(answer), () => undefined);
    } catch (error) {
      await this.#notAnswered(ask, error);
    }
  }

  /** A client that cannot answer leaves it to the others; if there are none, nobody says yes. */
  async #notAnswered(ask: AskMessage, error: unknown): Promise<void> {
    const waiting = this.#asks.delete(ask.key);
    if (!waiting || !(error instanceof RemoteError) || !this.#session.alone(ask.threadId)) return;
    try {
      await this.#call(ask.refused(`The client cannot answer: ${error.message}`), () => undefined);
    } catch {
      // It was answered or ended in the meantime; then this answer is not needed.
    }
  }

  #settle(key: string): void {
    const asked = this.#asks.get(key);
    this.#asks.delete(key);
    asked?.abort(new Error("answered elsewhere"));
  }
}

function parseParams(row: RequestRow, method: string, params: unknown): never {
  const parsed = row.params.safeParse(params ?? {});
  // What comes out fits the row, and the row belongs to the handler that gets it.
  if (parsed.success) return parsed.data as never;
  const problems = problemsOf(parsed.error.issues).slice(0, 5);
  const texts = problems.map(({ field, text }) => (field === "" ? text : `${field}: ${text}`));
  throw new FlintError("invalidParams", `Wrong params for ${method}: ${texts.join("; ")}`, {
    field: problems[0]?.field,
  });
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
