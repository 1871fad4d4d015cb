import type { Sandbox, TurnContext, TurnOutcome } from "@flint/core/ports";
import { errorMessage } from "@flint/host/files";
import type { Message, ToolCall } from "../models/model.ts";
import { truncateMiddle, visibleText } from "../text.ts";
import { failed, INTERRUPTED, type Tool, type ToolOutcome } from "../tools/tool.ts";
import type { TurnReporter } from "./turn-reporter.ts";

/** What the model gets of one result at most. */
const RESULT_CHARACTERS = 60_000;

/** All results of one step together may take half of the context; a token is about four characters. */
const CHARACTERS_PER_TOKEN = 4 / 2;

/** How many tools are named to a model that wants one that is not there. */
const NAMES_TOLD = 40;

/** So often the very same call may fail in one turn. */
const SAME_FAILURES = 5;

/** Where calls happen. */
export interface CallContext {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly sandbox: Sandbox;
  readonly report: Pick<TurnReporter, "takeItemId">;
  /** How many tokens the model may see. */
  readonly window: number;
}

/** What came of the calls of one step: a result for each that was done, in order, and perhaps the end of the turn. */
export interface CallResults {
  readonly messages: readonly Message[];
  readonly ended: TurnOutcome | undefined;
}

/** Does what a model wants: calls that only read at the same time, all others one after the other. */
export class CallRunner {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #place: CallContext;
  readonly #failures = new Map<string, number>();

  /** Of two tools with the same name the first one counts. */
  constructor(tools: readonly Tool[], place: CallContext) {
    this.#tools = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
    this.#place = place;
  }

  /** Does the calls of one step. */
  async run(calls: readonly ToolCall[]): Promise<CallResults> {
    const messages: Message[] = [];
    const share = Math.floor((this.#place.window * CHARACTERS_PER_TOKEN) / calls.length);
    const limit = Math.min(RESULT_CHARACTERS, Math.max(share, 1000));
    for (const group of this.#groups(calls)) {
      const outcomes = await Promise.all(group.map((call) => this.#call(call)));
      for (const [index, call] of group.entries()) {
        const outcome = outcomes[index] ?? INTERRUPTED;
        if ("ended" in outcome) return { messages, ended: outcome.ended };
        const { callId, tool } = call;
        const text = truncateMiddle(visibleText(outcome.result.text), limit);
        messages.push({ role: "tool", callId, tool, ...outcome.result, text });
        const ended = this.#tooOften(call, outcome);
        if (ended !== undefined) return { messages, ended };
      }
    }
    return { messages, ended: undefined };
  }

  /** Neighbours that only read are done together. */
  #groups(calls: readonly ToolCall[]): ToolCall[][] {
    const groups: ToolCall[][] = [];
    let previousReads = false;
    for (const call of calls) {
      const reads = this.#tools.get(call.tool)?.readOnly === true;
      if (reads && previousReads) groups.at(-1)?.push(call);
      else groups.push([call]);
      previousReads = reads;
    }
    return groups;
  }

  async #call({ tool: name, input, inputError }: ToolCall): Promise<ToolOutcome> {
    const { turn, signal, sandbox, report } = this.#place;
    if (signal.aborted) return INTERRUPTED;
    const tool = this.#tools.get(name);
    if (tool === undefined) return failed(`There is no tool ${name}. There are: ${this.#names()}.`);
    if (inputError !== undefined) return failed(`The call of ${name} was not done: ${inputError}`);
    const itemId = report.takeItemId();
    // Expected: a tool from elsewhere that breaks its promise. The model is told and the turn goes on.
    try {
      return await tool.run(input, { turn, signal, sandbox, itemId });
    } catch (thrown) {
      return signal.aborted ? INTERRUPTED : failed(`${name} failed: ${errorMessage(thrown)}`);
    }
  }

  #names(): string {
    const names = [...this.#tools.keys()].toReversed();
    return [...names.slice(0, NAMES_TOLD), ...(names.length > NAMES_TOLD ? ["…"] : [])].join(", ");
  }

  /** Somebody who only repeats what fails will not come to an end. */
  #tooOften({ tool, input }: ToolCall, outcome: ToolOutcome): TurnOutcome | undefined {
    const key = `${tool} ${JSON.stringify(input)}`;
    const isFailure = "result" in outcome && outcome.result.status !== "done";
    const count = isFailure ? (this.#failures.get(key) ?? 0) + 1 : 0;
    this.#failures.set(key, count);
    if (count < SAME_FAILURES) return undefined;
    const message = `The agent was stopped: it called ${tool} with the same input ${count} times, and it failed every time. Tell it what to do differently.`;
    return { status: "failed", error: { message, errorInfo: "AgentFailed" } };
  }
}
