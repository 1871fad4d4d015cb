import type { Receiver, Transport } from "@flint/rpc";

/**
 * The part of a WebSocket that is used; that of browsers, that of Node and that of the `ws` package all fit.
 */
export interface WebSocketLike {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: "open" | "close" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

const CONNECTING = 0;
const OPEN = 1;

/**
 * The way to a server over a WebSocket that the caller has made, with whatever it needs to get in: one text frame is
 * one line. What is sent before it is open waits; what arrives before the start is buffered.
 */
export function webSocketTransport(webSocket: WebSocketLike): Transport {
  return new WebSocketTransport(webSocket);
}

class WebSocketTransport implements Transport {
  readonly #webSocket: WebSocketLike;
  #receiver: Receiver | undefined;
  #waiting: string[] = [];
  #inbox: string[] = [];
  #paused = false;
  #closed = false;
  #closeReported = false;

  constructor(webSocket: WebSocketLike) {
    this.#webSocket = webSocket;
    webSocket.addEventListener("open", () => {
      for (const line of this.#waiting.splice(0)) webSocket.send(line);
    });
    webSocket.addEventListener("message", ({ data }) => {
      // Line ends inside of a message can only stand between its tokens; there a space means the same.
      this.#inbox.push(`${String(data).replaceAll(/[\r\n]/g, " ")}\n`);
      this.#deliver();
    });
    // Programs cannot read what went wrong; the close event that follows ends the transport.
    webSocket.addEventListener("error", () => undefined);
    webSocket.addEventListener("close", () => {
      this.#closed = true;
      this.#deliver();
    });
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    queueMicrotask(() => this.#deliver());
  }

  /** A WebSocket takes everything; who writes faster than the other side reads fills its memory, not ours. */
  write(text: string): boolean {
    const lines = text.split("\n").filter((line) => line !== "");
    if (this.#webSocket.readyState === CONNECTING) this.#waiting.push(...lines);
    else if (this.#webSocket.readyState === OPEN) for (const line of lines) this.#webSocket.send(line);
    return true;
  }

  /** Never called: writing never asks for a drain. */
  onDrain(): void {}

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#deliver();
  }

  close(): void {
    this.#closed = true;
    this.#inbox = [];
    this.#webSocket.close();
    this.#deliver();
  }

  #deliver(): void {
    while (!this.#paused && this.#receiver !== undefined) {
      const line = this.#inbox.shift();
      if (line === undefined) break;
      this.#receiver.chunk(line);
    }
    if (!this.#closed || this.#closeReported || this.#receiver === undefined || this.#inbox.length > 0)
      return;
    this.#closeReported = true;
    this.#receiver.closed();
  }
}
