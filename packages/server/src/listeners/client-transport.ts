import type { Socket } from "node:net";
import type { Clock } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import { decode, LineReader, type Receiver, type Transport, WrappedTransport } from "@flint/rpc";
import { streamTransport } from "@flint/rpc/node";

/** The reason a listener closes a connection, with the code and reason of a WebSocket close frame. */
export const CLOSE_REASONS = {
  silent: { code: 1008, reason: "no initialize received in time" },
  crowded: { code: 1013, reason: "too many connections; try again later" },
  stalled: { code: 1008, reason: "client stopped reading; attach again" },
  stopping: { code: 1001, reason: "the server is stopping" },
} as const;

/** The cause of a connection that the server closes. */
export type CloseCause = keyof typeof CLOSE_REASONS;

/** A transport that can be closed at once, whether the other side reads or not. */
export interface ClientTransport extends Transport {
  terminate(cause: CloseCause): void;
}

/** A client on a unix socket. */
export class SocketTransport extends WrappedTransport implements ClientTransport {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super(streamTransport(socket, socket));
    this.#socket = socket;
  }

  terminate(): void {
    this.#socket.destroy();
  }
}

/** A first message is short; longer lines are left to the front end. */
const MAX_HANDSHAKE_LINE = 64 * 1024;

/** Settings for recognising the handshake of a client. */
export interface HandshakeOptions {
  readonly clock: Clock;
  /** True if any request completes the handshake; otherwise only `initialize` does. */
  readonly anyRequest: boolean;
}

/**
 * Closes the connection of a client that does not send `initialize` in time, or stops reading what is sent to it. Both
 * bound what an unresponsive client can cost.
 */
export class WatchedTransport extends WrappedTransport<ClientTransport> {
  readonly #options: HandshakeOptions;
  #reader: LineReader | undefined;
  #stopHandshakeTimer: () => void;
  #stopStallTimer: (() => void) | undefined;

  constructor(inner: ClientTransport, options: HandshakeOptions) {
    super(inner);
    this.#options = options;
    this.#reader = new LineReader({
      limit: MAX_HANDSHAKE_LINE,
      line: (text) => this.#inspect(text),
      fault: () => undefined,
    });
    this.#stopHandshakeTimer = options.clock.after(LIMITS.initializeMilliseconds, () =>
      this.terminate("silent"),
    );
    inner.onDrain(() => this.#onDrain());
  }

  /** Reports whether the client has completed the handshake. */
  get initialized(): boolean {
    return this.#reader === undefined;
  }

  override start(receiver: Receiver): void {
    this.inner.start({
      chunk: (bytes) => {
        this.#reader?.push(bytes);
        receiver.chunk(bytes);
      },
      closed: (reason) => {
        this.#stopHandshakeTimer();
        receiver.closed(reason);
      },
    });
  }

  override write(text: string): boolean {
    const accepted = this.inner.write(text);
    if (!accepted) this.#awaitDrain();
    return accepted;
  }

  override close(): void {
    this.#stopHandshakeTimer();
    this.inner.close();
  }

  terminate(cause: CloseCause): void {
    this.#stopHandshakeTimer();
    this.#onDrain();
    this.inner.terminate(cause);
  }

  #inspect(text: string): void {
    const message = decode(text);
    if (message.kind !== "request") return;
    if (message.method !== "initialize" && !this.#options.anyRequest) return;
    this.#reader = undefined;
    this.#stopHandshakeTimer();
  }

  #awaitDrain(): void {
    this.#stopStallTimer ??= this.#options.clock.after(LIMITS.stalledMilliseconds, () =>
      this.terminate("stalled"),
    );
  }

  #onDrain(): void {
    this.#stopStallTimer?.();
    this.#stopStallTimer = undefined;
  }
}
