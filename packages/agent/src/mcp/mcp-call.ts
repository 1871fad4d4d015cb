import type { Clock } from "@flint/core/ports";
import { displayText, truncate } from "@flint/core/text";
import type { Action, Decision, Item } from "@flint/protocol";
import type { Progress } from "@modelcontextprotocol/client";
import { fits, wellFormedObject } from "../bounded-json.ts";
import { declined, failed, INTERRUPTED, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import type { CallResult } from "./call-result.ts";
import type { CallListener } from "./connection.ts";
import { McpFailure } from "./failure.ts";

/** The target of a call. */
export interface CallTarget {
  readonly server: string;
  readonly tool: string;
  /** The subject of the approval: a tool of the server, or a tool of the agent that uses servers. */
  readonly asks: "server" | "agent";
  perform(input: Readonly<Record<string, unknown>>, listener: CallListener): Promise<CallResult>;
}

type CallItem = Item<"mcpToolCall">;

const INPUT_BOUNDS = { depth: 64, characters: 1024 * 1024 };
const MAX_ERROR = 4000;

/** One MCP call: an item from start to end, with an approval before it is sent. */
export class McpCall {
  readonly #target: CallTarget;
  readonly #context: ToolContext;
  readonly #clock: Clock;
  readonly #item: CallItem;
  readonly #startedAt: number;

  private constructor(
    target: CallTarget,
    input: Record<string, unknown>,
    context: ToolContext,
    clock: Clock,
  ) {
    const { server, tool } = target;
    this.#target = target;
    this.#context = context;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#item = {
      type: "mcpToolCall",
      id: context.itemId,
      server,
      tool,
      arguments: input,
      status: "inProgress",
    };
  }

  /** Makes the call with the input of the model. */
  static async run(
    target: CallTarget,
    input: Readonly<Record<string, unknown>>,
    context: ToolContext,
    clock: Clock,
  ): Promise<ToolOutcome> {
    if (!fits(input, INPUT_BOUNDS))
      return failed("The input is too large or nested too deep. Make it smaller.");
    // The item, the approval and the request have the same value.
    return new McpCall(target, wellFormedObject(input), context, clock).#run();
  }

  async #run(): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    turn.emit({ type: "item/started", item: this.#item });
    const decision = await turn.approve(this.#action());
    if (signal.aborted) return INTERRUPTED;
    return decision.outcome === "allow" ? this.#perform() : this.#declined(decision);
  }

  #action(): Action {
    const { id: itemId, server, tool, arguments: input } = this.#item;
    const action = { kind: "tool" as const, itemId, tool, arguments: input };
    return this.#target.asks === "server" ? { ...action, server } : action;
  }

  #declined({ outcome, message }: Decision): ToolOutcome {
    this.#complete({ status: "failed", error: truncate(message ?? "The user declined.", MAX_ERROR) });
    return outcome === "cancel" ? INTERRUPTED : declined(message);
  }

  async #perform(): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    const { id: itemId, arguments: input = {} } = this.#item;
    const report = new ProgressReporter(this.#clock, (message) => {
      turn.emit({ type: "item/mcpToolCall/progress", itemId, message });
    });
    const progress = (update: Progress) => report.report(update);
    const ask: CallListener["ask"] = (questions) => turn.ask(itemId, questions);
    // Expected: a server that fails. The model gets the error.
    try {
      return this.#finish(await this.#target.perform(input, { signal, progress, ask }));
    } catch (thrown) {
      if (!(thrown instanceof McpFailure)) throw thrown;
      this.#complete({ status: "failed", error: thrown.message });
      if (signal.aborted) return INTERRUPTED;
      return failed(`The call to the MCP server ${this.#item.server} failed: ${thrown.message}`);
    }
  }

  #finish({ isError, result, text }: CallResult): ToolOutcome {
    if (!isError) this.#complete({ status: "completed", result });
    else this.#complete({ status: "failed", result, error: truncate(text, MAX_ERROR) });
    if (this.#context.signal.aborted) return INTERRUPTED;
    return { result: { status: isError ? "failed" : "done", text } };
  }

  #complete(change: Partial<CallItem>): void {
    const durationMs = this.#clock.now() - this.#startedAt;
    this.#context.turn.emit({ type: "item/completed", item: { ...this.#item, ...change, durationMs } });
  }
}

const MAX_MESSAGE = 500;
const UNTHROTTLED = 100;
const INTERVAL_MS = 1000;

/** Emits the progress of a call: each message once, and after many of them at most one per second. */
export class ProgressReporter {
  readonly #clock: Clock;
  readonly #emit: (message: string) => void;
  #emitted = 0;
  #emittedAt = Number.NEGATIVE_INFINITY;
  #last = "";

  constructor(clock: Clock, emit: (message: string) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** Handles a progress notification. */
  report({ progress, total, message }: Progress): void {
    const now = this.#clock.now();
    if (this.#emitted >= UNTHROTTLED && now - this.#emittedAt < INTERVAL_MS) return;
    const position = total === undefined ? progress : `${progress}/${total}`;
    const text = displayText(`${position} ${message ?? ""}`, MAX_MESSAGE);
    if (text === this.#last) return;
    this.#last = text;
    this.#emitted += 1;
    this.#emittedAt = now;
    this.#emit(text);
  }
}
