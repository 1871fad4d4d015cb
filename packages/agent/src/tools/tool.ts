import type { Sandbox, TurnContext, TurnOutcome } from "@flint/core/ports";
import { cutMiddle } from "@flint/core/text";
import { errorMessage, type Item } from "@flint/protocol";
import type { ToolDescription, ToolResult } from "../models/model.ts";
import { type InputFields, type InputValues, InvalidInput, object } from "./input.ts";

/** The context of one tool call. */
export interface ToolContext {
  readonly turn: TurnContext;
  /** Aborted when the turn is interrupted or the session is closed. */
  readonly signal: AbortSignal;
  readonly sandbox: Sandbox;
  /** The id of the call's item. */
  readonly itemId: string;
  /** True if the item has started, as a file change without changes: the model was seen writing the call. */
  readonly isStarted?: boolean;
}

/** The outcome of a call: a result for the model, or the end of the turn. */
export type ToolOutcome = { readonly result: ToolResult } | { readonly ended: TurnOutcome };

/** A tool of the agent. Every call is an item, asks for approval first, and never throws for bad input. */
export interface Tool extends ToolDescription {
  /** Changes nothing and asks nothing, so several such calls of one step run in parallel. */
  readonly readOnly: boolean;
  run(input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome>;
}

/** A source of further tools, such as MCP servers. */
export interface ToolSource {
  /** The tools that are available now. Never rejects: a source that fails has none. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Returns the features that are currently missing, by name, each with the reason. */
  missing?(): ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** The turn was interrupted. */
export const INTERRUPTED: ToolOutcome = { ended: { status: "interrupted" } };

/** A call that failed, with the reason for the model. */
export function failed(text: string): ToolOutcome {
  return { result: { status: "failed", text } };
}

/** A call that the user declined. */
export function declined(message: string | undefined): ToolOutcome {
  return { result: { status: "declined", text: message ?? "The user declined." } };
}

/** A call that succeeded, with its result for the model. */
export function done(text: string): ToolOutcome {
  return { result: { status: "done", text } };
}

/** The definition of a tool: its input is described once, for the model and for validation. */
export interface ToolDefinition<Shapes extends InputFields> {
  readonly name: string;
  readonly description: string;
  readonly readOnly: boolean;
  readonly input: Shapes;
  /** Runs a call. Throws InvalidInput, before its item, for input that the description of the input cannot rule out. */
  run(input: InputValues<Shapes>, context: ToolContext): Promise<ToolOutcome>;
}

/** Makes a tool. Calls with invalid input fail with the reason and do nothing. */
export function defineTool<Shapes extends InputFields>(definition: ToolDefinition<Shapes>): Tool {
  const { name, description, readOnly } = definition;
  const input = object(definition.input);
  return {
    name,
    description,
    readOnly,
    parameters: input.schema,
    async run(given, context): Promise<ToolOutcome> {
      // Expected: whatever input a model makes up. It is shown as a failed call, so that it is not taken for silence.
      try {
        return await definition.run(input.read(given, ""), context);
      } catch (thrown) {
        if (!(thrown instanceof InvalidInput)) throw thrown;
        const problem = `${name}: ${thrown.message}`;
        return runAsItem({ tool: name, title: name, input: given }, context, async () => failed(problem));
      }
    },
  };
}

/** Maximum size of a result that is stored with its item, for clients and for a thread that is resumed. */
const MAX_STORED_RESULT = 16_384;

/** The parts of a call that its item shows. */
export interface ToolCallInfo {
  readonly tool: string;
  readonly title: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Ends the file change that started while the model wrote its call, if one did. The files did not change. */
export function endStartedChange(
  { turn, itemId, isStarted }: ToolContext,
  { status, text }: ToolResult,
): void {
  if (isStarted !== true) return;
  const ended = status === "done" ? "completed" : status;
  const item = { type: "fileChange", id: itemId, changes: [], status: ended, output: text } as const;
  turn.emit({ type: "item/completed", item });
}

/** Runs a tool call with an item from its start to its end. What it throws becomes a failed result. */
export async function runAsItem(
  { tool, title, input }: ToolCallInfo,
  context: ToolContext,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { turn, itemId, signal, isStarted } = context;
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const item: Item<"toolCall"> = {
    type: "toolCall",
    id: itemId,
    tool,
    title,
    arguments: given,
    status: "inProgress",
  };
  if (isStarted !== true) turn.emit({ type: "item/started", item });
  // Expected: a file that does not exist or may not be read, a connection that fails.
  const outcome = await work().catch((thrown: unknown) => failed(errorMessage(thrown)));
  if (signal.aborted) return INTERRUPTED;
  if (!("result" in outcome)) return outcome;
  if (isStarted === true) endStartedChange(context, outcome.result);
  else turn.emit({ type: "item/completed", item: { ...item, ...ending(outcome.result) } });
  return outcome;
}

type Result = Extract<ToolOutcome, { result: unknown }>["result"];

function ending({ status, text }: Result): Partial<Item<"toolCall">> {
  const stored = cutMiddle(text, MAX_STORED_RESULT, "characters").text;
  if (status === "done") return { status: "completed", result: stored };
  return { status, error: stored };
}
