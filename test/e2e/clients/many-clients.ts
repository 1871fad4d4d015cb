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
} from "../../../packages/frontends/src/testing/client-scripts.ts";
import type { FrontendName } from "../../../packages/server/src/frontends.ts";
import { OpenServer } from "../../../packages/server/src/serve/testing/open-server.ts";

/** A user's client of any front end, over a WebSocket. */
export class TestUser {
  readonly frontend: FrontendName;
  readonly wire: WireClient;
  readonly #webSocket: WebSocket;
  readonly #script: ClientScript;
  readonly #cwd: string;

  private constructor(frontend: FrontendName, webSocket: WebSocket, cwd: string) {
    this.frontend = frontend;
    this.#webSocket = webSocket;
    this.#script = CLIENT_SCRIPTS[frontend];
    this.#cwd = cwd;
    this.wire = wireOver(webSocket, this.#script.header);
  }

  /** Connects and initializes. */
  static async at(frontend: FrontendName, server: OpenServer, cwd: string): Promise<TestUser> {
    const user = new TestUser(frontend, await server.webSocket(`/${frontend}`), cwd);
    await user.ask(user.#script.initialize);
    return user;
  }

  async ask([method, params]: Call): Promise<Fields> {
    return fields(await this.wire.request(method, params));
  }

  /** A new thread. */
  async startThread(): Promise<string> {
    return String(this.#script.threadIdOf(await this.ask(this.#script.startThread(this.#cwd))));
  }

  async attach(threadId: string): Promise<void> {
    await this.ask(this.#script.attach(threadId, this.#cwd));
  }

  /** Begins a turn. Resolves when the server has taken it, as far as this front end reports it. */
  async prompt(threadId: string, text: string): Promise<void> {
    const asked = this.ask(this.#script.prompt(threadId, text));
    // A prompt of which only the end is answered may end with the connection.
    if (this.#script.answersAtEnd) asked.catch(() => undefined);
    else await asked;
  }

  /** Resolves with the first approval request at or after this index of the received messages. */
  question(after = 0): Promise<Fields> {
    return this.wire.waitFor((message) => this.#script.isApproval(message), { after });
  }

  /** Answers a question. Rejects if the front end reports that it is too late; most do not. */
  async answer(question: Fields, isYes: boolean): Promise<void> {
    const answer = this.#script.answer(question, isYes);
    if ("call" in answer) await this.ask(answer.call);
    else this.wire.answer(question.id, answer.result);
  }

  /** Resolves when this client is notified that a request was resolved elsewhere. */
  withdrawn(question: Fields): Promise<Fields> {
    return this.wire.waitFor((message) => this.#script.isWithdrawal(message, question));
  }

  /** Resolves when any received message contains this string. */
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

  /** The index of the first received message that contains this string; -1 if there is none. */
  indexOf(text: string): number {
    return this.wire.lines.findIndex((connection) => connection.includes(text));
  }

  /** Stops reading, like a client that hangs. */
  hang(): void {
    this.#webSocket.pause();
  }

  /** Drops the connection without closing it. */
  async vanish(): Promise<void> {
    this.#webSocket.terminate();
    await this.wire.exited;
  }
}

/** Wraps a WebSocket as lines in both directions. */
function wireOver(webSocket: WebSocket, header: boolean): WireClient {
  const output = new PassThrough();
  webSocket.on("message", (data) => output.write(`${String(data)}\n`));
  webSocket.on("close", () => output.destroy());
  const input = new Writable({
    write: (connection, _encoding, done) => webSocket.send(String(connection).trimEnd(), () => done()),
  });
  return WireClient.over(output, input, { header });
}

/** Starts a server with every front end on a port and a socket, and connects users to it. */
export async function startSharedServer(options: TestEngineOptions & { readonly frontend?: FrontendName }) {
  const { frontend = "flint", ...engineOptions } = options;
  const { path: folder } = await temporaryFolder();
  const made = testEngine({ approvalPolicy: "always", cwd: folder, ...engineOptions });
  const kit = { engine: made.engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  const server = await OpenServer.start(kit, { protocol: frontend });
  return {
    made,
    server,
    folder,
    clock: kit.clock,
    user: (name: FrontendName) => TestUser.at(name, server, folder),
  };
}
