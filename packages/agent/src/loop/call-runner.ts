import type { Sandbox, TurnContext, TurnOutcome } from "@flint/core/ports";
import { visibleText } from "@flint/core/text";
import { errorMessage } from "@flint/protocol";
import type { Message, ToolCall } from "../models/model.ts";
import { failed, INTERRUPTED, runAsItem, type Tool, type ToolOutcome } from "../tools/tool.ts";
import { shortenedResult } from "./conversation.ts";
import type { TurnReport } from "./model-step.ts";

/** The size limit of one result. */
const MAX_RESULT = 60_000;

/** All results of one step together may use half of the context; a token is about four characters. */
const CHARACTERS_PER_TOKEN = 4 / 2;

/** The number of tools that are named when a model calls one that does not exist. */
const MAX_NAMES = 40;

/** Maximum number of times that the same call may fail in one turn. */
const MAX_SAME_FAILURES = 5;

/** The context in which calls run. */
export interface CallContext {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly sandbox: Sandbox;
  readonly report: Pick<TurnReport, "itemOfCall">;
  /** The context window in tokens. */
  readonly window: number;
}

/** The results of the calls of one step, in order, and perhaps the end of the turn. */
export interface CallResults {
  readonly messages: readonly Message[];
  readonly ended: TurnOutcome | undefined;
}

/** Runs the tool calls of a model: read-only calls in parallel, all others one after the other. */
export class CallRunner {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #context: CallContext;
  readonly #failures = new Map<string, number>();

  /** Of two tools with the same name the first one is used. */
  constructor(tools: readonly Tool[], context: CallContext) {
    this.#tools = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
    this.#context = context;
  }

  /** Runs the calls of one step. */
  async run(calls: readonly ToolCall[]): Promise<CallResults> {
    const messages: Message[] = [];
    const share = Math.floor((this.#context.window * CHARACTERS_PER_TOKEN) / calls.length);
    const limit = Math.min(MAX_RESULT, Math.max(share, 1000));
    for (const group of this.#groups(calls)) {
      const outcomes = await Promise.all(group.map((call) => this.#call(call)));
      for (const [index, call] of group.entries()) {
        const outcome = outcomes[index] ?? INTERRUPTED;
        if ("ended" in outcome) return { messages, ended: outcome.ended };
        const { callId, tool } = call;
        const text = shortenedResult(visibleText(outcome.result.text), limit);
        messages.push({ role: "tool", callId, tool, ...outcome.result, text });
        const ended = this.#repeatedFailure(call, outcome);
        if (ended !== undefined) return { messages, ended };
      }
    }
    return { messages, ended: undefined };
  }

  /** Consecutive read-only calls form one group. */
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

  async #call({ callId, tool: name, input, inputError }: ToolCall): Promise<ToolOutcome> {
    const { turn, signal, sandbox, report } = this.#context;
    if (signal.aborted) return INTERRUPTED;
    const tool = this.#tools.get(name);
    const context = { turn, signal, sandbox, ...report.itemOfCall(callId) };
    const problem =
      tool === undefined
        ? `There is no tool ${name}. Available tools: ${this.#names()}.`
        : inputError && `The call of ${name} did not run: ${inputError}`;
    // A call that does not run is an item too: otherwise a user sees a model that does nothing.
    if (tool === undefined || problem !== undefined)
      return runAsItem({ tool: name, title: name, input }, context, async () => failed(problem ?? ""));
    // Expected: a tool of a client or MCP server that throws. The model gets the error and the turn continues.
    try {
      return await tool.run(input, context);
    } catch (thrown) {
      return signal.aborted ? INTERRUPTED : failed(`${name} failed: ${errorMessage(thrown)}`);
    }
  }

  #names(): string {
    const names = [...this.#tools.keys()].toReversed();
    return [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ["…"] : [])].join(", ");
  }

  /** Ends the turn of a model that only repeats what fails. */
  #repeatedFailure({ tool, input }: ToolCall, outcome: ToolOutcome): TurnOutcome | undefined {
    const key = `${tool} ${JSON.stringify(input)}`;
    const isFailure = "result" in outcome && outcome.result.status !== "done";
    const count = isFailure ? (this.#failures.get(key) ?? 0) + 1 : 0;
    this.#failures.set(key, count);
    if (count < MAX_SAME_FAILURES) return undefined;
    const message = `The agent was stopped: it called ${tool} with the same input ${count} times, and every call failed. Tell it what to do differently.`;
    return { status: "failed", error: { message, errorInfo: "AgentFailed" } };
  }
}
