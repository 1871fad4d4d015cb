import type { WebSocket } from "ws";
import {
  type Call,
  CLIENT_SCRIPTS,
  type ClientScript,
  type Fields,
  fields,
} from "../packages/frontends/src/testing/client-scripts.ts";
import type { FrontendName } from "../packages/server/src/frontends.ts";
import { webSocketLibrary } from "../packages/server/src/listeners/web-socket-transport.ts";

/** Something that is waited for: the first message that fits. */
interface Waiter {
  fits(message: Fields): boolean;
  resolve(message: Fields): void;
  reject(error: Error): void;
}

/** Streamed text of any door; it is not looked into. */
const PIECE_MARKS = ["/delta", "item.delta", "agent_message_chunk"];

/** A client of any door over a WebSocket, which takes streamed text without a look at it. */
export class DoorClient {
  readonly words: ClientScript;
  readonly #webSocket: WebSocket;
  readonly #waiters = new Set<Waiter>();
  #id = 0;

  private constructor(webSocket: WebSocket, words: ClientScript) {
    this.#webSocket = webSocket;
    this.words = words;
    webSocket.on("message", (data) => this.#onMessage(String(data)));
    webSocket.on("close", () => this.#onClose());
    // What goes wrong ends in a close.
    webSocket.on("error", () => undefined);
  }

  /** Connects to a server at a door and says hello. */
  static async open(place: string, door: FrontendName): Promise<DoorClient> {
    const { WebSocket: Client } = webSocketLibrary();
    const webSocket = new Client(`${place}/${door}`, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      webSocket.once("open", resolve);
      webSocket.once("error", reject);
    });
    const client = new DoorClient(webSocket, CLIENT_SCRIPTS[door]);
    await client.ask(client.words.initialize);
    return client;
  }

  /** Asks, and gives the result. */
  async ask(call: Call): Promise<Fields> {
    const id = this.send(call);
    const { result, error } = await this.next((message) => message.id === id && message.method === undefined);
    if (error !== undefined) throw new Error(`${call[0]} was refused: ${JSON.stringify(error)}`);
    return fields(result);
  }

  /** Asks without waiting. The id of the request. */
  send([method, params]: Call): number {
    this.#id += 1;
    this.#webSocket.send(JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params }));
    return this.#id;
  }

  /** Answers what the server asked. */
  answer(question: Fields): void {
    const answer = this.words.answer(question, true);
    if ("call" in answer) this.send(answer.call);
    else this.#webSocket.send(JSON.stringify({ jsonrpc: "2.0", id: question.id, result: answer.result }));
  }

  /** The next message that fits; streamed text never does. */
  next(fits: (message: Fields) => boolean): Promise<Fields> {
    return new Promise((resolve, reject) => this.#waiters.add({ fits, resolve, reject }));
  }

  /** Stops reading, as a client that hangs does. */
  hang(): void {
    this.#webSocket.pause();
  }

  close(): void {
    this.#webSocket.terminate();
  }

  #onMessage(text: string): void {
    const head = text.slice(0, 200);
    if (PIECE_MARKS.some((mark) => head.includes(mark))) return;
    const message = fields(JSON.parse(text));
    for (const waiter of this.#waiters) {
      if (!waiter.fits(message)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(message);
    }
  }

  #onClose(): void {
    for (const { reject } of this.#waiters) reject(new Error("The server closed the connection."));
    this.#waiters.clear();
  }
}
