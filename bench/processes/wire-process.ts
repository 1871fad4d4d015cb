import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { LIMITS, METHODS, type Method, type ParamsInput, type Result } from "@flint/protocol";
import { LineReader } from "@flint/rpc";
import { watchChild } from "./child.ts";

const DELTA_START = '{"method":"item/agentMessage/delta"';
const STOP_LIMIT_MS = 6000;

/** Options of a process besides its arguments. */
export interface WireOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Reports whether a line is streamed text; by default, as Flint writes it. */
  isDelta?(line: string): boolean;
  /** True if its stderr is ignored. */
  readonly quiet?: boolean;
}

/** An answer as it came, and how long it took until its line was there. */
export interface Exchange {
  readonly result: unknown;
  readonly milliseconds: number;
}

/** A message that is neither a delta nor a response. */
export interface WireNotification {
  readonly method: string;
  readonly params: unknown;
}

interface WireAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: object;
}

interface Pending {
  readonly startedAt: number;
  resolve(exchange: Exchange): void;
  reject(error: Error): void;
}

interface Waiter {
  readonly matches: (notification: WireNotification) => boolean;
  resolve(notification: WireNotification): void;
  reject(error: Error): void;
}

type ServerChild = ChildProcessByStdio<Writable, Readable, null>;

/**
 * A server process and a client that reads it as cheaply as possible: streamed text is handed on unparsed, so that
 * the reader does not slow down what is measured.
 */
export class WireProcess {
  /** Gets every line of streamed text. */
  onDelta: ((line: string) => void) | undefined;
  /** Gets every other notification. */
  onNotification: ((notification: WireNotification) => void) | undefined;
  readonly pid: number;
  readonly #child: ServerChild;
  readonly #pending = new Map<number, Pending>();
  readonly #waiters = new Set<Waiter>();
  readonly #isDelta: (line: string) => boolean;
  #nextId = 1;
  #gone: Error | undefined;

  /** Starts `node` with these arguments. */
  constructor(nodeArguments: readonly string[], options: WireOptions = {}) {
    const child = startNode(nodeArguments, options);
    watchChild(child);
    this.#child = child;
    this.#isDelta = options.isDelta ?? ((line) => line.startsWith(DELTA_START));
    if (child.pid === undefined)
      throw new Error(`Node could not be started with ${nodeArguments.join(" ")}.`);
    this.pid = child.pid;
    this.#read();
    child.stdin.on("error", () => undefined);
    child.on("close", (code, signal) => this.#onClose(`${nodeArguments[0]} ended (${signal ?? code})`));
  }

  /** Sends a request and waits for its answer. */
  exchange(method: string, params: object): Promise<Exchange> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { startedAt: performance.now(), resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** Calls a method of Flint and checks the shape of what comes back. */
  async call<Name extends Method>(method: Name, params: ParamsInput<Name>): Promise<Result<Name>> {
    const { result } = await this.exchange(method, params);
    // The row of the name holds the schema of its result; a generic name cannot carry that.
    return METHODS[method].result.parse(result) as Result<Name>;
  }

  /** Initializes a connection to a Flint server. */
  async initialize(): Promise<void> {
    await this.call("initialize", { clientInfo: { name: "bench", version: "0" } });
  }

  /** The next notification that fits. */
  next(matches: (notification: WireNotification) => boolean): Promise<WireNotification> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      this.#waiters.add({ matches, resolve, reject });
    });
  }

  /** Closes the input and waits for the end, which is hastened if it takes too long. */
  async end(): Promise<void> {
    if (this.#gone !== undefined) return;
    const closed = once(this.#child, "close");
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_LIMIT_MS);
    await closed;
    clearTimeout(timer);
  }

  #read(): void {
    const reader = new LineReader({
      limit: LIMITS.line * 2,
      line: (text) => this.#onLine(text),
      fault: ({ kind }) => this.#onClose(`The server wrote a line that cannot be read (${kind})`),
    });
    this.#child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
  }

  #onLine(line: string): void {
    if (this.#isDelta(line)) this.onDelta?.(line);
    else this.#onMessage(line, performance.now());
  }

  #onMessage(line: string, now: number): void {
    // Servers of this repository write JSON-RPC; only answers have an id and no method.
    const message = JSON.parse(line) as Partial<WireAnswer> & WireNotification;
    if (message.method !== undefined) this.#onNotification(message);
    else if (message.id !== undefined) this.#onAnswer({ ...message, id: message.id }, now);
  }

  #onAnswer({ id, result, error }: WireAnswer, now: number): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error !== undefined) pending?.reject(new Error(JSON.stringify(error)));
    else pending?.resolve({ result, milliseconds: now - pending.startedAt });
  }

  #onNotification(notification: WireNotification): void {
    this.onNotification?.(notification);
    for (const waiter of this.#waiters) {
      if (!waiter.matches(notification)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(notification);
    }
  }

  #onClose(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = new Error(`${reason}, so nothing more can be measured with it.`);
    for (const { reject } of [...this.#pending.values(), ...this.#waiters]) reject(this.#gone);
  }
}

function startNode(nodeArguments: readonly string[], { environment, quiet }: WireOptions): ServerChild {
  const env = { ...process.env, ...environment };
  // The overloads of `spawn` recognize a pipe only where each entry is a literal.
  return quiet === true
    ? spawn(process.execPath, nodeArguments, { stdio: ["pipe", "pipe", "ignore"], env })
    : spawn(process.execPath, nodeArguments, { stdio: ["pipe", "pipe", "inherit"], env });
}
