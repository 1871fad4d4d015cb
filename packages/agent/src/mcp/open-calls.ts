import { type AskUser, answerElicitation } from "@flint/core/elicitation";
import type { Clock } from "@flint/core/ports";
import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";

const MAX_QUESTIONS = 10;
const DECLINED: ElicitResult = { action: "decline" };

interface OpenCall {
  readonly ask: AskUser;
  readonly timeout: IdleTimeout;
  questions: number;
  asking: Promise<unknown>;
}

/** The calls that a server is working on. It may ask the user only during one of them, a limited number of times. */
export class OpenCalls {
  readonly #server: string;
  readonly #calls: OpenCall[] = [];

  constructor(server: string) {
    this.#server = server;
  }

  /** Begins a call; the returned function ends it. */
  begin(ask: AskUser, timeout: IdleTimeout): () => void {
    const call: OpenCall = { ask, timeout, questions: 0, asking: Promise.resolve() };
    this.#calls.push(call);
    return () => this.#calls.splice(this.#calls.indexOf(call), 1);
  }

  /** Answers an elicitation. A server does not say for which call it asks, so the latest is assumed. */
  async answer(params: ElicitRequestParams): Promise<ElicitResult> {
    const call = this.#calls.at(-1);
    if (call === undefined || call.questions >= MAX_QUESTIONS) return DECLINED;
    call.questions += 1;
    const answer = call.asking.then(() => this.#ask(call, params));
    call.asking = answer.catch(() => undefined);
    return answer;
  }

  async #ask(call: OpenCall, params: ElicitRequestParams): Promise<ElicitResult> {
    if (!this.#calls.includes(call)) return DECLINED;
    return call.timeout.pauseFor(() => answerElicitation(`The MCP server ${this.#server}`, params, call.ask));
  }
}

/** Calls back when there was no activity for too long. It can be restarted and paused. */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #expire: () => void;
  #cancel: () => void;
  #pauses = 0;
  #isOver = false;

  constructor(clock: Clock, milliseconds: number, expire: () => void) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#expire = expire;
    this.#cancel = clock.after(milliseconds, expire);
  }

  /** Starts the time again. */
  restart(): void {
    this.#cancel();
    if (this.#pauses > 0 || this.#isOver) return;
    this.#cancel = this.#clock.after(this.#milliseconds, this.#expire);
  }

  /** Pauses while the work runs, such as waiting for an answer of the user. */
  async pauseFor<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#pauses += 1;
    this.#cancel();
    try {
      return await work();
    } finally {
      this.#pauses -= 1;
      this.restart();
    }
  }

  /** Cancels it for good. */
  end(): void {
    this.#isOver = true;
    this.#cancel();
  }
}
