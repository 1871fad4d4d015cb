import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import type { Receiver } from "@flint/rpc";
import type { WebSocket } from "ws";
import { CLOSE_REASONS, type ClientTransport, type CloseCause } from "./client-transport.ts";

const LINE_END = Buffer.from("\n");
const LF = 10;
const CR = 13;
const SPACE = 32;
const OPEN = 1;
const NORMAL = 1000;
const NOT_TEXT = 1003;
// Time for which a closed connection waits for the other side to read what was written and to close.
const LINGER_MS = 1000;

/** A WebSocket as a transport of lines: a text frame is a line. It must be open; `socket` is its underlying socket. */
export class WebSocketTransport implements ClientTransport {
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #drainListeners: (() => void)[] = [];
  #paused = false;

  constructor(webSocket: WebSocket, socket: Duplex) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    // An error ends in a close event; without a listener it would end the process.
    webSocket.on("error", () => undefined);
    socket.on("drain", () => this.#emitDrain());
    socket.on("close", () => this.#emitDrain());
  }

  /** Reports whether reading is paused; then a missing pong means nothing. */
  get paused(): boolean {
    return this.#paused;
  }

  start(receiver: Receiver): void {
    this.#webSocket.on("message", (data, isBinary) => {
      if (isBinary || !Buffer.isBuffer(data)) return this.#webSocket.close(NOT_TEXT, "send text frames");
      receiver.chunk(oneLine(data));
      receiver.chunk(LINE_END);
    });
    this.#webSocket.once("close", () => receiver.closed());
  }

  write(text: string): boolean {
    if (this.#webSocket.readyState !== OPEN || this.#socket.destroyed) return true;
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    this.#socket.cork();
    for (const line of lines) this.#webSocket.send(line);
    this.#socket.uncork();
    return !this.#socket.writableNeedDrain;
  }

  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  pause(): void {
    this.#paused = true;
    this.#webSocket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#webSocket.resume();
  }

  close(): void {
    this.#end(NORMAL, "");
  }

  terminate(cause: CloseCause): void {
    const { code, reason } = CLOSE_REASONS[cause];
    if (cause === "stalled") this.#webSocket.terminate();
    else this.#end(code, reason);
  }

  #end(code: number, reason: string): void {
    // The close frame of the other side must be read.
    this.resume();
    this.#webSocket.close(code, reason);
    const linger = setTimeout(() => this.#webSocket.terminate(), LINGER_MS);
    linger.unref();
    this.#socket.once("close", () => clearTimeout(linger));
  }

  #emitDrain(): void {
    for (const listener of this.#drainListeners) listener();
  }
}

/** Replaces line breaks, which in JSON can only occur between tokens, with spaces. */
function oneLine(data: Buffer): Buffer {
  if (!data.includes(LF) && !data.includes(CR)) return data;
  return Buffer.from(data.map((byte) => (byte === LF || byte === CR ? SPACE : byte)));
}

/** The `ws` library, loaded on first use. It is CommonJS, which cannot be bundled. */
export function webSocketLibrary(): typeof import("ws") {
  const load: (name: "ws") => typeof import("ws") = createRequire(import.meta.url);
  return load("ws");
}
