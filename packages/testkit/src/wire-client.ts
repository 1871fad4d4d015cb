import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { isRecord } from "@flint/protocol";
import { atTestEnd } from "./test-end.ts";

/** A line that arrived and is a JSON object. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** How the other side ended. Both are null if it is not a process. */
export interface WireExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How a server process is started. */
export interface WireSpawnOptions {
  readonly cwd?: string;
  /** Added to the environment of the test; undefined takes a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether requests and answers carry `"jsonrpc": "2.0"`. */
  readonly header?: boolean;
}

/** How long something is waited for, and from which place of the log on. */
export interface WaitOptions {
  /** Only messages from this place on count; take it from `mark` before. */
  readonly after?: number;
  readonly withinMs?: number;
}

/** A request was answered with an error. */
export class WireError extends Error {
  readonly code: unknown;
  readonly data: unknown;

  constructor(method: string, error: WireMessage) {
    super(`${method} was refused: ${String(error.message)}`);
    this.name = "WireError";
    this.code = error.code;
    this.data = error.data;
  }
}

type Waiter = { check(): boolean; reject(error: Error): void };

const WAIT_MS = 20_000;
const STDERR_KEPT = 64 * 1024;
// A child of the other side may hold its output open; what was written before the exit is here by then.
const LAST_WORDS_MS = 500;

/**
 * The plainest client there is: JSON lines out, a log of everything that came in. It knows no vocabulary and shares
 * no code with the server, so it can also send what no proper client would.
 */
export class WireClient {
  /** Every line that arrived, as it was, without its newline. */
  readonly lines: string[] = [];
  /** Every line that is a JSON object, in order of arrival. */
  readonly messages: WireMessage[] = [];
  /** Resolves when the other side has ended and everything it wrote is in the log. */
  readonly exited: Promise<WireExit>;
  /** The number of the process, if it is one. */
  readonly pid: number | undefined;
  readonly #output: Readable;
  readonly #input: Writable;
  readonly #child: ChildProcess | undefined;
  readonly #header: boolean;
  readonly #waiters = new Set<Waiter>();
  readonly #decoder = new StringDecoder("utf8");
  #parts: string[] = [];
  #stderr = "";
  #exit: WireExit | undefined;
  #resolveExited: (exit: WireExit) => void = () => {};
  #nextId = 1;

  /** Starts a server and ends it at the end of the test if it still runs then. */
  static spawn(command: readonly string[], options: WireSpawnOptions = {}): WireClient {
    const [program, ...programArguments] = command;
    if (program === undefined) throw new Error("The command to spawn is empty.");
    const env = { ...process.env, ...options.env };
    const child = spawn(program, programArguments, { cwd: options.cwd, env, stdio: "pipe" });
    const client = new WireClient(child.stdout, child.stdin, options.header ?? false, child);
    atTestEnd(
      async () => {
        client.kill("SIGKILL");
        await client.exited;
      },
      () => client.kill("SIGKILL"),
    );
    return client;
  }

  /** Speaks over two streams, such as the halves of a socket. */
  static over(output: Readable, input: Writable, options: { readonly header?: boolean } = {}): WireClient {
    return new WireClient(output, input, options.header ?? false, undefined);
  }

  private constructor(output: Readable, input: Writable, header: boolean, child: ChildProcess | undefined) {
    this.#output = output;
    this.#input = input;
    this.#header = header;
    this.#child = child;
    this.pid = child?.pid;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    output.on("data", (chunk: Buffer) => this.#receive(chunk));
    // Writing to a process that ended is reported by `exited`.
    input.on("error", () => {});
    if (child === undefined) output.on("close", () => this.#onEnd({ code: null, signal: null }));
    else this.#watch(child);
  }

  /** The end of what the process wrote to stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  /** The place behind the last message, for `waitFor` to look from later. */
  get mark(): number {
    return this.messages.length;
  }

  /** Writes one object as a line. */
  send(message: object): void {
    this.#input.write(`${JSON.stringify(message)}\n`);
  }

  /** Writes exactly this, and resolves when it has left this process. */
  sendRaw(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#input.write(bytes, () => resolve()));
  }

  /** Tells the other side. */
  notify(method: string, params?: object): void {
    this.send({ ...this.#envelope(), method, params });
  }

  /** Asks the other side. Resolves with the result, rejects with a WireError or when the other side ends. */
  async request(method: string, params: object = {}, options: WaitOptions = {}): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    const after = this.mark;
    this.send({ ...this.#envelope(), id, method, params });
    const isAnswer = (message: WireMessage): boolean => message.id === id && !("method" in message);
    const answer = await this.waitFor(isAnswer, { after, ...options });
    const error = answer.error;
    if (isObject(error)) throw new WireError(method, error);
    return answer.result;
  }

  /** Answers a request of the other side. */
  answer(id: unknown, result: unknown): void {
    this.send({ ...this.#envelope(), id, result });
  }

  /** Refuses a request of the other side. */
  answerError(id: unknown, error: { readonly code: number; readonly message: string }): void {
    this.send({ ...this.#envelope(), id, error });
  }

  /**
   * The first message for which this holds, whether it is here already or still to come. Rejects at once when the
   * other side ends without having sent it.
   */
  waitFor(holds: (message: WireMessage) => boolean, options: WaitOptions = {}): Promise<WireMessage> {
    return new Promise((resolve, reject) => {
      let next = options.after ?? 0;
      const deadline = setTimeout(() => waiter.reject(this.#late(options)), options.withinMs ?? WAIT_MS);
      const leave = (): void => {
        clearTimeout(deadline);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        check: () => {
          const found = this.messages.slice(next).find(holds);
          next = this.messages.length;
          if (found === undefined) return false;
          leave();
          resolve(found);
          return true;
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
      if (!waiter.check() && this.#exit !== undefined) waiter.reject(this.#gone(this.#exit));
    });
  }

  /** The first message with this method, in the way of `waitFor`. */
  waitForMethod(method: string, options: WaitOptions = {}): Promise<WireMessage> {
    return this.waitFor((message) => message.method === method, options);
  }

  /** Stops reading, as a client that hangs does. */
  pause(): void {
    this.#output.pause();
  }

  /** Reads on after `pause`. */
  resume(): void {
    this.#output.resume();
  }

  /** Closes the input of the other side. */
  end(): void {
    this.#input.end();
  }

  /** Sends a signal to the process; harmless when it has ended. */
  kill(signal: NodeJS.Signals = "SIGTERM"): void {
    this.#child?.kill(signal);
  }

  #envelope(): object {
    return this.#header ? { jsonrpc: "2.0" } : {};
  }

  #watch(child: ChildProcess): void {
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
    });
    child.on("error", (error) => {
      this.#stderr += error.message;
      this.#onEnd({ code: null, signal: null });
    });
    child.on("close", (code, signal) => this.#onEnd({ code, signal }));
    child.on("exit", (code, signal) => {
      setTimeout(() => this.#onEnd({ code, signal }), LAST_WORDS_MS).unref();
    });
  }

  #receive(chunk: Buffer): void {
    const pieces = this.#decoder.write(chunk).split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.#parts.push(piece);
      this.#onLine(this.#parts.join(""));
      this.#parts = [];
    }
    if (last !== "") this.#parts.push(last);
    if (pieces.length > 0) for (const waiter of [...this.#waiters]) waiter.check();
  }

  #onLine(line: string): void {
    this.lines.push(line);
    const message = parseObject(line);
    if (message !== undefined) this.messages.push(message);
  }

  #onEnd(exit: WireExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    this.#resolveExited(exit);
    for (const waiter of [...this.#waiters]) waiter.reject(this.#gone(exit));
  }

  #gone(exit: WireExit): Error {
    const how = `code ${exit.code}, signal ${exit.signal}`;
    return new Error(`The other side ended (${how}) before what was waited for.${this.#context()}`);
  }

  #late(options: WaitOptions): Error {
    return new Error(`Nothing fitting came within ${options.withinMs ?? WAIT_MS} ms.${this.#context()}`);
  }

  #context(): string {
    const lines = this.lines.slice(-5).map((line) => line.slice(0, 500));
    return `\nIts last lines:\n${lines.join("\n")}\nIts stderr:\n${this.#stderr.slice(-2000)}`;
  }
}

function parseObject(line: string): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    // Garbage stays in `lines`, where a test can look for it.
    return undefined;
  }
}

function isObject(value: unknown): value is WireMessage {
  return isRecord(value);
}
