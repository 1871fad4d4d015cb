import {
  errorMessage,
  FLINT,
  LIMITS,
  METHODS,
  type Method,
  type ParamsInput,
  type Result,
} from "@flint/protocol";
import { type Id, Peer, PeerClosedError, PeerTimeoutError, RemoteError, type Transport } from "@flint/rpc";
import { FlintConnectionError, FlintRequestError, type OnWarning, problemOf } from "../errors.ts";
import { readNotification } from "../events/agent-event.ts";
import {
  BUFFER_LIMITS,
  type BufferLimits,
  EventHub,
  type EventListener,
  EventStream,
} from "../events/event-stream.ts";
import { type AskHandlers, Asks } from "./asks.ts";
import { askedEvent, readAsk } from "./read-ask.ts";

/** The server's end of a connection: its transport, why it closed, and how to stop it. */
export interface Endpoint {
  readonly transport: Transport;
  /** Explains why the connection ended, soon even if that is unknown. */
  explain(reason: Error | undefined): Promise<FlintConnectionError>;
  /** Resolves when everything started for this connection has ended. */
  stop(): Promise<void>;
}

/** An endpoint that the caller owns, such as a server in this process. */
export function externalEndpoint(transport: Transport): Endpoint {
  return {
    transport,
    explain: (reason) => {
      const why = reason === undefined ? "" : `: ${errorMessage(reason)}`;
      const details = reason === undefined ? {} : { cause: reason };
      return Promise.resolve(
        new FlintConnectionError("closed", `The server closed the connection${why}.`, details),
      );
    },
    stop: () => Promise.resolve(),
  };
}

/** Timeout and cancellation of a request. Without either it waits as long as the connection lives. */
export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

/** Handlers and limits of a client. */
export type ClientOptions = AskHandlers & {
  /** Receives problems that were ignored safely; must not throw. */
  readonly onWarning?: OnWarning | undefined;
  /** For every request that sets no limit of its own; none if absent. */
  readonly requestTimeoutMs?: number | undefined;
  readonly buffer?: Partial<BufferLimits> | undefined;
};

/** One connection to a server: it sends typed requests and receives the server's notifications as agent events. */
export class AppServerClient {
  /** Resolves once the connection is closed and what was started for it has ended; with the reason unless `close` was called. */
  readonly closed: Promise<FlintConnectionError | undefined>;
  readonly #endpoint: Endpoint;
  readonly #peer: Peer;
  readonly #asks: Asks;
  readonly #hub: EventHub;
  readonly #warn: OnWarning;
  readonly #requestTimeoutMs: number | undefined;
  readonly #buffer: BufferLimits;
  readonly #explained: Promise<FlintConnectionError>;
  #closing = false;

  /** Begins to read at once; `connect` is the usual way to get a client that is ready. */
  constructor(endpoint: Endpoint, options: ClientOptions = {}) {
    this.#endpoint = endpoint;
    this.#warn = options.onWarning ?? (() => {});
    this.#hub = new EventHub((error) => this.warnOfFault("an event listener", error));
    this.#requestTimeoutMs = options.requestTimeoutMs;
    this.#buffer = { ...BUFFER_LIMITS, ...options.buffer };
    this.#peer = this.#openPeer();
    this.#asks = new Asks(options, this.#peer, this.#warn);
    this.#explained = this.#peer.closed.then((reason) => this.#explain(reason));
    this.closed = this.#explained.then((error) => this.#finish(error));
    this.#peer.start();
  }

  /**
   * Sends a request. Rejects with FlintRequestError if the server refuses, FlintConnectionError without a usable answer,
   * or the reason of the signal; giving up does not undo what the server does.
   */
  async call<Name extends Method>(
    method: Name,
    params: ParamsInput<Name>,
    options: CallOptions = {},
  ): Promise<Result<Name>> {
    const answer = await this.#request(method, params, options);
    const parsed = METHODS[method].result.safeParse(answer);
    if (!parsed.success) {
      const problem = `The answer to "${method}" does not fit: ${problemOf(parsed.error)}`;
      throw new FlintConnectionError("badAnswer", problem, { cause: parsed.error });
    }
    // The row of exactly this method has parsed the answer; the union of all rows cannot follow a generic name.
    return parsed.data as Result<Name>;
  }

  /**
   * Everything that happens from now on, or only in one thread. Listening begins with the call, not with the first
   * read, and ends when the loop is left or the connection is over; a lost connection ends it with an error.
   */
  events(threadId?: string): EventStream {
    const stream = new EventStream(this.#buffer);
    const stop = this.subscribe({
      threadId,
      event: (event) => stream.push(event),
      ended: (error) => stream.end(error),
    });
    stream.onRelease(stop);
    return stream;
  }

  /** Tells a listener every event at the moment it arrives; call the result to stop. */
  subscribe(listener: EventListener): () => void {
    return this.#hub.add(listener);
  }

  /** The limits that readers of this client's events have. */
  get buffer(): BufferLimits {
    return this.#buffer;
  }

  /** Passes a fault in the caller's own code on as a warning. */
  warnOfFault(who: string, error: unknown): void {
    this.#warn({ kind: "handlerFailed", message: `A fault in ${who}: ${errorMessage(error)}` });
  }

  /** Closes the connection and rejects what is pending. Resolves when a server that was started has ended. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#peer.close();
    await this.closed;
  }

  /** Sends `initialize`, the first request of every connection. */
  protected async handshake(
    params: ParamsInput<"initialize">,
    options?: CallOptions,
  ): Promise<Result<"initialize">> {
    const answer = await this.call("initialize", params, options);
    this.#peer.notify("initialized", {});
    return answer;
  }

  #openPeer(): Peer {
    return new Peer(this.#endpoint.transport, {
      header: FLINT.header,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method, params) => this.#onRequest(id, method, params),
        notification: (method, params) => this.#onNotification(method, params),
        bad: (fault) =>
          this.#warn({ kind: "malformedLine", message: `A line was skipped: ${fault.message}` }),
        crashed: (error, where) => this.warnOfFault(`the handler of "${where}"`, error),
      },
    });
  }

  /** A request of the server is also an event: the two are one message on the wire. */
  #onRequest(id: Id, method: string, params: unknown): Promise<void> {
    const ask = readAsk(method, params);
    const event = askedEvent(ask);
    if (event !== undefined) this.#hub.emit(event);
    return this.#asks.take(id, method, ask);
  }

  #onNotification(method: string, params: unknown): void {
    const read = readNotification(method, params);
    if (!read.ok) {
      const message = `The notification "${method}" was skipped: ${read.problem}`;
      this.#warn({ kind: "malformedNotification", message });
      return;
    }
    this.#asks.notice(read.event);
    this.#hub.emit(read.event);
  }

  async #request(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#requestTimeoutMs;
    try {
      return await this.#peer.request(method, params, {
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
    } catch (thrown) {
      // The peer's own errors become one of the two families; a signal's reason stays what it is.
      throw await this.#translate(method, thrown);
    }
  }

  async #translate(method: string, thrown: unknown): Promise<unknown> {
    if (thrown instanceof RemoteError) return new FlintRequestError(thrown);
    if (thrown instanceof PeerTimeoutError) {
      return new FlintConnectionError("timedOut", `The server did not answer: ${thrown.message}.`, {
        cause: thrown,
      });
    }
    if (!(thrown instanceof PeerClosedError)) return thrown;
    const why = await this.#explained;
    return new FlintConnectionError(why.kind, `"${method}" was not answered. ${why.message}`, {
      stderr: why.stderr,
      cause: why,
    });
  }

  async #explain(reason: Error | undefined): Promise<FlintConnectionError> {
    this.#asks.end();
    if (this.#closing) {
      const closed = new FlintConnectionError("closed", "The client was closed.");
      this.#hub.end(undefined);
      return closed;
    }
    const error = await this.#endpoint.explain(reason);
    this.#hub.end(error);
    return error;
  }

  async #finish(error: FlintConnectionError): Promise<FlintConnectionError | undefined> {
    const onPurpose = this.#closing;
    this.#peer.close();
    await this.#endpoint.stop();
    return onPurpose ? undefined : error;
  }
}
