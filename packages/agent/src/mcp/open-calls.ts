import { type AskUser, answerElicitation } from "@flint/core/elicitation";
import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { IdleTimeout } from "./idle-timeout.ts";

const MOST_QUESTIONS = 10;
const DECLINED: ElicitResult = { action: "decline" };

interface OpenCall {
  readonly ask: AskUser;
  readonly deadline: IdleTimeout;
  questions: number;
  asking: Promise<unknown>;
}

/** The calls that a server works on. Only for one of them may it ask something, and not without end. */
export class OpenCalls {
  readonly #server: string;
  readonly #calls: OpenCall[] = [];

  constructor(server: string) {
    this.#server = server;
  }

  /** Begins a call; what comes back ends it. */
  begin(ask: AskUser, deadline: IdleTimeout): () => void {
    const call: OpenCall = { ask, deadline, questions: 0, asking: Promise.resolve() };
    this.#calls.push(call);
    return () => this.#calls.splice(this.#calls.indexOf(call), 1);
  }

  /** Answers what the server asks. A server does not say for which call it asks, so it is taken to be the latest. */
  async answer(params: ElicitRequestParams): Promise<ElicitResult> {
    const call = this.#calls.at(-1);
    if (call === undefined || call.questions >= MOST_QUESTIONS) return DECLINED;
    call.questions += 1;
    const answer = call.asking.then(() => this.#ask(call, params));
    call.asking = answer.catch(() => undefined);
    return answer;
  }

  async #ask(call: OpenCall, params: ElicitRequestParams): Promise<ElicitResult> {
    if (!this.#calls.includes(call)) return DECLINED;
    return call.deadline.pauseFor(() =>
      answerElicitation(`The MCP server ${this.#server}`, params, call.ask),
    );
  }
}
