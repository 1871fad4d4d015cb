import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import {
  type Channel,
  type ChannelListener,
  LineSplitter,
  type Message,
  Wire,
} from "@flint/conformance/wire";
import { atTestEnd } from "./temp.ts";

export { type WaitOptions, WireError } from "@flint/conformance/wire";

/** A line that was received and is a JSON object. */
export type WireMessage = Message;

/** The outcome of the other side. Both are null if it is not a process. */
export interface WireExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Options for starting a server process. */
export interface WireSpawnOptions {
  readonly cwd?: string;
  /** Added to the environment of the test; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** True if messages carry `"jsonrpc": "2.0"`. */
  readonly header?: boolean;
}

const WAIT_MS = 20_000;
const MAX_STDERR = 64 * 1024;
// A child of the server may hold its output open; what was written before the exit has arrived by then.
const EXIT_GRACE_MS = 500;

/** The wire of a test: to a server process that it starts, or over two streams. It can also misbehave. */
export class WireClient extends Wire {
  /** The id of the process, if it is one. */
  readonly pid: number | undefined;
  readonly #streams: StreamChannel;

  /** Starts a server, and kills it at the end of the test if it still runs. */
  static spawn(command: readonly string[], options: WireSpawnOptions = {}): WireClient {
    const [program, ...programArguments] = command;
    if (program === undefined) throw new Error("The command to spawn is empty.");
    const env = { ...process.env, ...options.env };
    const child = spawn(program, programArguments, { cwd: options.cwd, env, stdio: "pipe" });
    const channel = new StreamChannel(child.stdout, child.stdin, child);
    const client = new WireClient(channel, options.header ?? false);
    atTestEnd(
      async () => {
        client.kill("SIGKILL");
        await client.exited;
      },
      () => client.kill("SIGKILL"),
    );
    return client;
  }

  /** Connects over two streams, such as the two directions of a socket. */
  static over(output: Readable, input: Writable, options: { readonly header?: boolean } = {}): WireClient {
    return new WireClient(new StreamChannel(output, input), options.header ?? false);
  }

  private constructor(channel: StreamChannel, header: boolean) {
    super(channel, { header, timeoutMs: WAIT_MS });
    this.#streams = channel;
    this.pid = channel.child?.pid;
  }

  /** Resolves when the other side has ended and everything it wrote was received. */
  get exited(): Promise<WireExit> {
    return this.#streams.exited;
  }

  /** The end of what the process wrote to stderr. */
  get stderr(): string {
    return this.#streams.stderr;
  }

  /** Writes exactly these bytes, and resolves when they have left this process. */
  sendRaw(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#streams.input.write(bytes, () => resolve()));
  }

  /** Stops reading, as a client that hangs does. */
  pause(): void {
    this.#streams.output.pause();
  }

  /** Reads on after `pause`. */
  resume(): void {
    this.#streams.output.resume();
  }

  /** Closes the input of the other side. */
  end(): void {
    this.#streams.input.end();
  }

  /** Sends a signal to the process; does nothing when it has ended. */
  kill(signal: NodeJS.Signals = "SIGTERM"): void {
    this.#streams.child?.kill(signal);
  }

  protected override describeState(): string {
    const lines = this.lines.slice(-5).map((line) => line.slice(0, 500));
    return `\nIts last lines:\n${lines.join("\n")}\nIts stderr:\n${this.stderr.slice(-2000)}`;
  }
}

/** Lines over two streams, which may be those of a child process. */
class StreamChannel implements Channel {
  readonly exited: Promise<WireExit>;
  readonly output: Readable;
  readonly input: Writable;
  readonly child: ChildProcess | undefined;
  stderr = "";
  #resolveExited: (exit: WireExit) => void = () => {};

  constructor(output: Readable, input: Writable, child?: ChildProcess) {
    this.output = output;
    this.input = input;
    this.child = child;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    // A write to a process that has ended is reported by `exited`.
    input.on("error", () => {});
    if (child === undefined) output.on("close", () => this.#resolveExited({ code: null, signal: null }));
    else this.#watch(child);
  }

  listen({ text, closed }: ChannelListener): void {
    const lines = new LineSplitter(text);
    this.output.on("data", (chunk: Buffer) => lines.push(chunk));
    void this.exited.then(({ code, signal }) =>
      closed(new Error(`The other side ended (code ${code}, signal ${signal}).`)),
    );
  }

  send(text: string): void {
    this.input.write(`${text}\n`);
  }

  async close(): Promise<void> {
    this.input.end();
    await this.exited;
  }

  #watch(child: ChildProcess): void {
    child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString("utf8")).slice(-MAX_STDERR);
    });
    child.on("error", (error) => {
      this.stderr += error.message;
      this.#resolveExited({ code: null, signal: null });
    });
    child.on("close", (code, signal) => this.#resolveExited({ code, signal }));
    child.on("exit", (code, signal) => {
      setTimeout(() => this.#resolveExited({ code, signal }), EXIT_GRACE_MS).unref();
    });
  }
}
