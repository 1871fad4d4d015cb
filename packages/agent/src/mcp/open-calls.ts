import { type AskUser, answerElicitation } from "@flint/core/elicitation";
import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { IdleTimeout } from "./idle-timeout.ts";

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
