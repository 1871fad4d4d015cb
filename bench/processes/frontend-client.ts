import type { WebSocket } from "ws";
import {
  type Call,
  CLIENT_SCRIPTS,
  type ClientScript,
  type Fields,
  fields,
} from "../../packages/frontends/src/testing/client-scripts.ts";
import type { FrontendName } from "../../packages/server/src/frontends.ts";
import { webSocketLibrary } from "../../packages/server/src/listeners/web-socket-transport.ts";

/** Waits for the first matching message. */
interface Waiter {
  fits(message: Fields): boolean;
  resolve(message: Fields): void;
  reject(error: Error): void;
}

/** Marks of streamed text in any protocol; those messages are not parsed. */
const PIECE_MARKS = ["/delta", "item.delta", "agent_message_chunk"];

/** A client of any front end over a WebSocket that does not parse streamed text. */
export class FrontendClient {
  readonly script: ClientScript;
  readonly #webSocket: WebSocket;
  readonly #waiters = new Set<Waiter>();
  #id = 0;

  private constructor(webSocket: WebSocket, script: ClientScript) {
    this.#webSocket = webSocket;
    this.script = script;
    webSocket.on("message", (data) => this.#onMessage(String(data)));
    webSocket.on("close", () => this.#onClose());
    // Every error is followed by a close.
    webSocket.on("error", () => undefined);
  }

  /** Connects to one front end of a server and initializes. */
  static async open(url: string, frontend: FrontendName): Promise<FrontendClient> {
    const { WebSocket: Client } = webSocketLibrary();
    const webSocket = new Client(`${url}/${frontend}`, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      webSocket.once("open", resolve);
      webSocket.once("error", reject);
    });
    const client = new FrontendClient(webSocket, CLIENT_SCRIPTS[frontend]);
    await client.ask(client.script.initialize);
    return client;
  }

  /** Sends a request and resolves with its result. */
  async ask(call: Call): Promise<Fields> {
    const id = this.send(call);
    const { result, error } = await this.next((message) => message.id === id && message.method === undefined);
    if (error !== undefined) throw new Error(`${call[0]} was refused: ${JSON.stringify(error)}`);
    return fields(result);
  }

  /** Sends a request without waiting and returns its id. */
  send([method, params]: Call): number {
    this.#id += 1;
    this.#webSocket.send(JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params }));
    return this.#id;
  }

  /** Answers a request of the server. */
  answer(question: Fields): void {
    const answer = this.script.answer(question, true);
    if ("call" in answer) this.send(answer.call);
    else this.#webSocket.send(JSON.stringify({ jsonrpc: "2.0", id: question.id, result: answer.result }));
  }

  /** Resolves with the next matching message; streamed text never matches. */
  next(fits: (message: Fields) => boolean): Promise<Fields> {
    return new Promise((resolve, reject) => this.#waiters.add({ fits, resolve, reject }));
  }

  /** Stops reading, like a client that hangs. */
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
