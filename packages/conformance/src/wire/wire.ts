import { isRecord } from "@flint/protocol";
import type { Channel } from "./channel.ts";
import { expectFit, Failed, formatValue, type Pattern } from "./pattern.ts";

/** A JSON object that one side sent. */
export type Message = Readonly<Record<string, unknown>>;

/** One line of the transcript. */
export interface Entry {
  readonly direction: "sent" | "came";
  readonly text: string;
  /** The line as an object, if it is one. */
  readonly message: Message | undefined;
}

/** The messages that count when one is waited for, and the time limit. */
export interface WaitOptions {
  /** Only messages from this position on; take it from `mark` before. */
  readonly after?: number | undefined;
  /** Names the message in the error if it does not arrive. */
  readonly what?: string | undefined;
  readonly withinMs?: number | undefined;
}

/** Options for writing, and the default time limit of waiting. */
export interface WireOptions {
  /** True if messages carry `"jsonrpc": "2.0"`. */
  readonly header: boolean;
  readonly timeoutMs: number;
}

/** A request was answered with an error. */
export class WireError extends Failed {
  readonly code: unknown;
  readonly data: unknown;

  constructor(method: string, error: Message) {
    super(`${method} was refused: ${typeof error.message === "string" ? error.message : formatValue(error)}`);
    this.code = error.code;
    this.data = error.data;
  }
}

interface Waiter {
  readonly holds: (message: Message) => boolean;
  next: number;
  resolve(message: Message): void;
  reject(reason: string): void;
}

/**
 * The client of a wire: it sends JSON and records everything that goes either way. It knows no method and shares no code
 * with the servers, so it can also send what no well-behaved client would.
 */
export class Wire {
  /** The transcript: everything that was sent and received, in order. */
  readonly entries: Entry[] = [];
  /** Every line that was received, as it was; grows while it is held. */
  readonly lines: string[] = [];
  /** Everything received that is a JSON object, in order. */
  readonly messages: Message[] = [];
  readonly #channel: Channel;
  readonly #options: WireOptions;
  readonly #waiters = new Set<Waiter>();
  #nextId = 1;
  #end: Error | undefined;

  constructor(channel: Channel, options: WireOptions) {
    this.#channel = channel;
    this.#options = options;
    channel.listen({
      text: (text) => this.#onText(text),
      closed: (reason) => this.#onEnd(reason),
    });
  }

  /** The position behind the last message, for `waitFor` and `since`. */
  get mark(): number {
    return this.messages.length;
  }

  /** Reports whether the other side is still connected. */
  get open(): boolean {
    return this.#end === undefined;
  }

  /** The messages that were received from a position on. */
  since(mark: number): Message[] {
    return this.messages.slice(mark);
  }

  /** Sends exactly this text. */
  sendText(text: string): void {
    this.entries.push({ direction: "sent", text, message: parseObject(text) });
    this.#channel.send(text);
  }

  /** Sends an object. */
  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** Sends a request without waiting, and returns its id. */
  begin(method: string, params?: unknown): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.send({ ...this.#header(), id, method, params });
    return id;
  }

  /** Resolves with the response to a request, result or error. */
  answerTo(id: unknown, after = 0, options: WaitOptions = {}): Promise<Message> {
    const isAnswer = (message: Message): boolean => message.id === id && !("method" in message);
    return this.waitFor(isAnswer, { after, what: `an answer to the request ${formatValue(id)}`, ...options });
  }

  /** Sends a request and resolves with its response, result or error. */
  ask(method: string, params?: unknown, options: WaitOptions = {}): Promise<Message> {
    const after = this.mark;
    return this.answerTo(this.begin(method, params), after, options);
  }

  /** Sends a request and resolves with its result; rejects with a WireError if it is refused. */
  async request(method: string, params: object = {}, options: WaitOptions = {}): Promise<unknown> {
    const answer = await this.ask(method, params, options);
    if (isRecord(answer.error)) throw new WireError(method, answer.error);
    return answer.result;
  }

  /** Sends a request and resolves with its result; fails the check if that is not an object. */
  async result(method: string, params?: unknown): Promise<Message> {
    return resultOf(method, await this.ask(method, params));
  }

  /** Sends a request that has to be refused, and resolves with an error that matches. */
  async expectError(method: string, params: unknown, expected: Pattern): Promise<Message> {
    return errorOf(method, await this.ask(method, params), expected);
  }

  /** Sends a notification. */
  notify(method: string, params?: unknown): void {
    this.send({ ...this.#header(), method, params });
  }

  /** Answers a request of the other side. */
  answer(id: unknown, result: unknown): void {
    this.send({ ...this.#header(), id, result });
  }

  /** Answers a request of the other side with an error. */
  answerError(id: unknown, error: { readonly code: number; readonly message: string }): void {
    this.send({ ...this.#header(), id, error });
  }

  /**
   * Resolves with the first message for which this holds, received already or still to come. Rejects when the time is
   * over, and at once when the connection closes.
   */
  waitFor(holds: (message: Message) => boolean, options: WaitOptions = {}): Promise<Message> {
    const { after = 0, what = "the expected message", withinMs = this.#options.timeoutMs } = options;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        finish();
      };
      const waiter: Waiter = {
        holds,
        next: after,
        resolve: (message) => settle(() => resolve(message)),
        reject: (reason) =>
          settle(() => reject(new Failed(`${what} did not arrive${reason}${this.describeState()}`))),
      };
      const timer = setTimeout(() => waiter.reject(` within ${withinMs / 1000} s`), withinMs);
      this.#waiters.add(waiter);
      this.#look(waiter);
      if (this.#end !== undefined && this.#waiters.has(waiter)) waiter.reject(`: ${this.#end.message}`);
    });
  }

  /** Resolves with the first notification or request with this method, as `waitFor` does. */
  waitForMethod(method: string, options: WaitOptions = {}): Promise<Message> {
    return this.waitFor((message) => message.method === method, { what: method, ...options });
  }

  /** Closes the connection, and stops what was started for it. */
  async close(): Promise<void> {
    await this.#channel.close();
  }

  /**
   * Returns further information on the other side for an error; empty here, where reports show the
   * transcript.
   */
  protected describeState(): string {
    return "";
  }

  #header(): object {
    return this.#options.header ? { jsonrpc: "2.0" } : {};
  }

  #onText(text: string): void {
    const message = parseObject(text);
    this.entries.push({ direction: "came", text, message });
    this.lines.push(text);
    if (message === undefined) return;
    this.messages.push(message);
    for (const waiter of [...this.#waiters]) this.#look(waiter);
  }

  #look(waiter: Waiter): void {
    for (; waiter.next < this.messages.length; waiter.next += 1) {
      const message = this.messages[waiter.next];
      if (message === undefined || !waiter.holds(message)) continue;
      waiter.resolve(message);
      return;
    }
  }

  #onEnd(reason: Error): void {
    this.#end ??= reason;
    for (const waiter of [...this.#waiters]) waiter.reject(`: ${reason.message}`);
  }
}

/** The result in a response; fails the check if it is an error. */
export function resultOf(method: string, answer: Message): Message {
  if (isRecord(answer.result)) return answer.result;
  if (answer.error === undefined)
    throw new Failed(`${method} was answered without a result: ${formatValue(answer)}`);
  throw new Failed(`${method} was refused: ${formatValue(answer.error)}`);
}

/** The error in a response; fails the check unless it is the expected one. */
export function errorOf(method: string, answer: Message, expected: Pattern): Message {
  const { error } = answer;
  if (!isRecord(error))
    throw new Failed(`${method} should be refused, but the answer is ${formatValue(answer)}`);
  expectFit(`the refusal of ${method}`, error, expected);
  return error;
}

function parseObject(text: string): Message | undefined {
  // Expected: text that is not JSON. It stays in the transcript.
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
