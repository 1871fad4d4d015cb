import { connect, type Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import type { WireMessage } from "@flint/testkit";
import { ReceivedText } from "./received-text.ts";

/** A client that keeps only what it needs to check the order of events, so that there can be many of them. */
export class LeanClient {
  readonly text = new ReceivedText();
  /** The stored events that are no pieces of text, by place and name, in the order they came. */
  readonly events: string[] = [];
  readonly #socket: Socket;
  readonly #decoder = new StringDecoder("utf8");
  readonly #waiting = new Map<number | string, () => void>();
  #rest: string[] = [];
  #nextId = 1;

  constructor(socketPath: string) {
    this.#socket = connect(socketPath);
    this.#socket.on("data", (bytes) => this.#receive(bytes));
  }

  /** Asks, and resolves when the answer is here, whatever it is. */
  request(method: string, params: object): Promise<void> {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#socket.write(`${JSON.stringify({ id, method, params })}\n`);
    return this.#arrival(id);
  }

  /** Resolves when a notification with this method comes. */
  received(method: string): Promise<void> {
    return this.#arrival(method);
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  #arrival(key: number | string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(key, resolve));
  }

  #receive(bytes: Buffer): void {
    const [first = "", ...others] = this.#decoder.write(bytes).split("\n");
    this.#rest.push(first);
    for (const next of others) {
      this.#onLine(this.#rest.join(""));
      this.#rest = [next];
    }
  }

  #onLine(line: string): void {
    const message: WireMessage = JSON.parse(line);
    this.text.take(message);
    const { id, method, params } = message;
    if (typeof method === "string") this.#onNotification(method, params);
    this.#settle(typeof method === "string" ? method : id);
  }

  #onNotification(method: string, params: unknown): void {
    const seq: unknown =
      typeof params === "object" && params !== null ? Reflect.get(params, "seq") : undefined;
    if (seq !== undefined && !/delta$/i.test(method)) this.events.push(`${String(seq)} ${method}`);
  }

  #settle(key: unknown): void {
    if (typeof key !== "string" && typeof key !== "number") return;
    this.#waiting.get(key)?.();
    this.#waiting.delete(key);
  }
}
