import type { Channel } from "./channel.ts";
import { Failed } from "./check-errors.ts";
import { expectFit, isObject, type Pattern, shown } from "./pattern.ts";

/** A JSON object of either side. */
export type Message = Readonly<Record<string, unknown>>;

/** One line that went over the wire. */
export interface Entry {
  readonly direction: "sent" | "came";
  readonly text: string;
  /** The line as an object, if it is one. */
  readonly message: Message | undefined;
}

/** What a refused request was answered with. */
export interface Refusal {
  readonly code: unknown;
  readonly message: unknown;
  readonly data?: unknown;
}

/** Which messages count when one is waited for. */
export interface Waiting {
  /** Only those from this place on; take it from `mark` before. */
  readonly after?: number | undefined;
  /** What is said if nothing comes. */
  readonly what?: string | undefined;
}

interface Waiter {
  readonly holds: (message: Message) => boolean;
  next: number;
  resolve(message: Message): void;
  reject(error: Error): void;
}

/** How a wire writes, and how long it waits. */
export interface WireOptions {
  readonly header: boolean;
  readonly timeoutMs: number;
}

/**
 * The plainest client there is: JSON texts out, and a record of everything that went either way. It knows no
 * vocabulary and shares no code with the servers here, so it can also send what no proper client would.
 */
export class Wire {
  /** Everything that went either way, in order. */
  readonly entries: Entry[] = [];
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
      closed: (why) => this.#onEnd(why),
    });
  }

  /** The place behind the last entry. */
  get mark(): number {
    return this.entries.length;
  }

  /** Whether the other side is still there. */
  get open(): boolean {
    return this.#end === undefined;
  }

  /** What came from a place on. */
  since(mark: number): Message[] {
    return this.entries
      .slice(mark)
      .flatMap(({ direction, message }) => (direction === "came" && message !== undefined ? [message] : []));
  }

  /** Sends exactly this text. */
  sendText(text: string): void {
    this.entries.push({ direction: "sent", text, message: objectIn(text) });
    this.#channel.send(text);
  }

  /** Sends an object. */
  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** Sends a request with an id of its own and does not wait. */
  begin(method: string, params?: unknown): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.send({ ...this.#header(), id, method, ...(params === undefined ? {} : { params }) });
    return id;
  }

  /** The answer to a request, whatever it is. */
  async answerTo(id: unknown, after = 0): Promise<Message> {
    const isAnswer = (message: Message): boolean => message.id === id && !("method" in message);
    return this.waitFor(isAnswer, { after, what: `an answer to the request ${shown(id)}` });
  }

  /** Asks, and resolves with the answer, whatever it is. */
  async ask(method: string, params?: unknown): Promise<Message> {
    const after = this.mark;
    return this.answerTo(this.begin(method, params), after);
  }

  /** Asks, and fails the check if that is refused. */
  async result(method: string, params?: unknown): Promise<Message> {
    return resultOf(method, await this.ask(method, params));
  }

  /** Asks, and fails the check unless that is refused in the expected way. */
  async refusal(method: string, params: unknown, expected: Pattern): Promise<Refusal> {
    return refusalOf(method, await this.ask(method, params), expected);
  }

  /** Tells the other side. */
  notify(method: string, params?: unknown): void {
    this.send({ ...this.#header(), method, ...(params === undefined ? {} : { params }) });
  }

  /** Answers a request of the other side. */
  answer(id: unknown, result: unknown): void {
    this.send({ ...this.#header(), id, result });
  }

  /** The first message that this holds for, here already or still to come; fails the check when the time is over. */
  waitFor(holds: (message: Message) => boolean, { after = 0, what }: Waiting = {}): Promise<Message> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const seconds = this.#options.timeoutMs / 1000;
        settle(() => reject(new Failed(`${what ?? "what was waited for"} did not come within ${seconds} s`)));
      }, this.#options.timeoutMs);
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        finish();
      };
      const waiter: Waiter = {
        holds,
        next: after,
        resolve: (message) => settle(() => resolve(message)),
        reject: (error) =>
          settle(() => reject(new Failed(`${what ?? "what was waited for"} did not come: ${error.message}`))),
      };
      this.#waiters.add(waiter);
      this.#look(waiter);
      if (this.#end !== undefined && this.#waiters.has(waiter)) waiter.reject(this.#end);
    });
  }

  /** The first notification or request with this method, from a place on. */
  waitForMethod(method: string, after = 0): Promise<Message> {
    return this.waitFor((message) => message.method === method, { after, what: method });
  }

  /** Ends the connection, and what was started for it. */
  async close(): Promise<void> {
    await this.#channel.close();
  }

  #header(): object {
    return this.#options.header ? { jsonrpc: "2.0" } : {};
  }

  #onText(text: string): void {
    this.entries.push({ direction: "came", text, message: objectIn(text) });
    for (const waiter of [...this.#waiters]) this.#look(waiter);
  }

  #look(waiter: Waiter): void {
    for (; waiter.next < this.entries.length; waiter.next += 1) {
      const entry = this.entries[waiter.next];
      if (entry?.direction !== "came" || entry.message === undefined) continue;
      if (!waiter.holds(entry.message)) continue;
      waiter.resolve(entry.message);
      return;
    }
  }

  #onEnd(why: Error): void {
    this.#end ??= why;
    for (const waiter of [...this.#waiters]) waiter.reject(why);
  }
}

/** The result in an answer; fails the check if it is a refusal. */
export function resultOf(method: string, answer: Message): Message {
  if (isObject(answer.result)) return answer.result;
  if (answer.error === undefined)
    throw new Failed(`${method} was answered without a result: ${shown(answer)}`);
  throw new Failed(`${method} was refused: ${shown(answer.error)}`);
}

/** The refusal in an answer; fails the check unless it is the expected one. */
export function refusalOf(method: string, answer: Message, expected: Pattern): Refusal {
  const { error } = answer;
  if (!isObject(error)) throw new Failed(`${method} should be refused, but the answer is ${shown(answer)}`);
  expectFit(`the refusal of ${method}`, error, expected);
  return { code: error.code, message: error.message, data: error.data };
}

function objectIn(text: string): Message | undefined {
  // Expected: text that is no JSON. It stays in the record, where a report shows it.
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
