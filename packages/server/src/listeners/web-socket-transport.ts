import type { Duplex } from "node:stream";
import type { Receiver } from "@flint/rpc";
import type { WebSocket } from "ws";
import { CUTS, type Cut, type GuestTransport } from "./cut.ts";

const LINE_END = Buffer.from("\n");
const LF = 10;
const CR = 13;
const SPACE = 32;
const OPEN = 1;
const NORMAL = 1000;
const NOT_TEXT = 1003;
// How long a closed connection waits for the other side to take what was written and to say goodbye.
const LINGER_MS = 1000;

/** A WebSocket as a pipe of lines: one text frame is one line. It must be open, and `socket` what it runs on. */
export class WebSocketTransport implements GuestTransport {
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #drainListeners: (() => void)[] = [];
  #paused = false;

  constructor(webSocket: WebSocket, socket: Duplex) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    // What goes wrong ends in a close, which is told; without a listener it would end the process.
    webSocket.on("error", () => undefined);
    socket.on("drain", () => this.#announceDrain());
    socket.on("close", () => this.#announceDrain());
  }

  /** True while the other side is held back; then its silence means nothing. */
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

  cut(why: Cut): void {
    const { code, words } = CUTS[why];
    if (why === "stalled") this.#webSocket.terminate();
    else this.#end(code, words);
  }

  #end(code: number, words: string): void {
    // The goodbye of the other side must be heard.
    this.resume();
    this.#webSocket.close(code, words);
    const linger = setTimeout(() => this.#webSocket.terminate(), LINGER_MS);
    linger.unref();
    this.#socket.once("close", () => clearTimeout(linger));
  }

  #announceDrain(): void {
    for (const listener of this.#drainListeners) listener();
  }
}

/** Line ends inside of a message can only stand between its tokens; there a space means the same. */
function oneLine(data: Buffer): Buffer {
  if (!data.includes(LF) && !data.includes(CR)) return data;
  return Buffer.from(data.map((byte) => (byte === LF || byte === CR ? SPACE : byte)));
}
