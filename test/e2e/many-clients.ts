import { PassThrough, Writable } from "node:stream";
import { TestClock, type TestEngineOptions, temporaryFolder, testEngine, WireClient } from "@flint/testkit";
import { onTestFinished } from "vitest";
import type { WebSocket } from "ws";
import {
  type Call,
  CLIENT_SCRIPTS,
  type ClientScript,
  type Fields,
  fields,
} from "../../packages/frontends/src/testing/client-scripts.ts";
import type { FrontendName } from "../../packages/server/src/frontends.ts";
import { OpenServer } from "../../packages/server/src/serve/testing/open-server.ts";

/** A person at a client of any door, over a WebSocket. */
export class Person {
  readonly door: FrontendName;
  readonly wire: WireClient;
  readonly #webSocket: WebSocket;
  readonly #words: ClientScript;
  readonly #cwd: string;

  private constructor(door: FrontendName, webSocket: WebSocket, cwd: string) {
    this.door = door;
    this.#webSocket = webSocket;
    this.#words = CLIENT_SCRIPTS[door];
    this.#cwd = cwd;
    this.wire = wireOver(webSocket, this.#words.header);
  }

  /** Connects and says hello. */
  static async at(door: FrontendName, server: OpenServer, cwd: string): Promise<Person> {
    const person = new Person(door, await server.webSocket(`/${door}`), cwd);
    await person.ask(person.#words.initialize);
    return person;
  }

  async ask([method, params]: Call): Promise<Fields> {
    return fields(await this.wire.request(method, params));
  }

  /** A new thread. */
  async begin(): Promise<string> {
    return String(this.#words.threadIdOf(await this.ask(this.#words.startThread(this.#cwd))));
  }

  async attach(threadId: string): Promise<void> {
    await this.ask(this.#words.attach(threadId, this.#cwd));
  }

  /** Begins a turn. Resolves when the server has taken it, as far as this door says so. */
  async prompt(threadId: string, text: string): Promise<void> {
    const asked = this.ask(this.#words.prompt(threadId, text));
    // A prompt of which only the end is answered may end with the connection.
    if (this.#words.answersAtEnd) asked.catch(() => undefined);
    else await asked;
  }

  /** The request to answer something, from a place of the log on. */
  question(after = 0): Promise<Fields> {
    return this.wire.waitFor((message) => this.#words.isApproval(message), { after });
  }

  /** Answers a question. Rejects if the door says that it is too late; most say nothing. */
  async answer(question: Fields, isYes: boolean): Promise<void> {
    const answer = this.#words.answer(question, isYes);
    if ("call" in answer) await this.ask(answer.call);
    else this.wire.answer(question.id, answer.result);
  }

  /** Resolves when this client is told that a question needs no answer any more. */
  withdrawn(question: Fields): Promise<Fields> {
    return this.wire.waitFor((message) => this.#words.isWithdrawal(message, question));
  }

  /** Resolves when anything that this client was told or answered contains a text. */
  async saw(text: string): Promise<void> {
    const { lines } = this.wire;
    let next = 0;
    const isThere = () => {
      while (next < lines.length) {
        next += 1;
        if (lines[next - 1]?.includes(text)) return true;
      }
      return false;
    };
    await this.wire.waitFor(isThere);
  }

  /** The place in the log of the first message that contains a text; -1 if there is none. */
  placeOf(text: string): number {
    return this.wire.lines.findIndex((line) => line.includes(text));
  }

  /** Stops reading, as a client that hangs does. */
  hang(): void {
    this.#webSocket.pause();
  }

  /** Loses the connection without a word. */
  async vanish(): Promise<void> {
    this.#webSocket.terminate();
    await this.wire.exited;
  }
}

/** A WebSocket as lines in both directions. */
function wireOver(webSocket: WebSocket, header: boolean): WireClient {
  const output = new PassThrough();
  webSocket.on("message", (data) => output.write(`${String(data)}\n`));
  webSocket.on("close", () => output.destroy());
  const input = new Writable({
    write: (line, _encoding, done) => webSocket.send(String(line).trimEnd(), () => done()),
  });
  return WireClient.over(output, input, { header });
}

/** A server with all its doors open on a port and at a socket, and people who come to it. */
export async function openHouse(options: TestEngineOptions & { readonly door?: FrontendName }) {
  const { door = "flint", ...engineOptions } = options;
  const { path: folder } = await temporaryFolder();
  const made = testEngine({ approvalPolicy: "always", cwd: folder, ...engineOptions });
  const kit = { engine: made.engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  const server = await OpenServer.start(kit, { protocol: door });
  return {
    made,
    server,
    folder,
    clock: kit.clock,
    person: (name: FrontendName) => Person.at(name, server, folder),
  };
}
