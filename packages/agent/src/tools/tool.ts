import type { Sandbox, TurnContext, TurnOutcome } from "@flint/core/ports";
import type { ToolDescription, ToolResult } from "../models/model.ts";
import { type InputFields, type InputValues, InvalidInput, object } from "./input.ts";

/** What a tool works with in one call. */
export interface ToolContext {
  readonly turn: TurnContext;
  /** Aborted when the turn is to stop or the session is closed. */
  readonly signal: AbortSignal;
  readonly sandbox: Sandbox;
  /** The id of the item that shows the call. */
  readonly itemId: string;
}

/** What came of a call: something to tell the model, or the end of the turn. */
export type ToolOutcome = { readonly result: ToolResult } | { readonly ended: TurnOutcome };

/** Something the agent can do. Every call is shown as an item, asked about first, and never throws for bad input. */
export interface Tool extends ToolDescription {
  /** Changes nothing and needs no answer, so several such calls of one step run at the same time. */
  readonly readOnly: boolean;
  run(input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome>;
}

/** Tools that come from elsewhere, such as MCP servers. */
export interface ToolSource {
  /** The tools that are there now. Never rejects: a source that fails has none. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** What of it is missing now, by name, each with the reason. */
  missing?(): ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** The turn stops here. */
export const INTERRUPTED: ToolOutcome = { ended: { status: "interrupted" } };

/** A call that could not be done, told to the model in words. */
export function failed(text: string): ToolOutcome {
  return { result: { status: "failed", text } };
}

/** A call that the user does not want. */
export function declined(message: string | undefined): ToolOutcome {
  return { result: { status: "declined", text: message ?? "The user declined." } };
}

/** A call that was done, and what the model is told of it. */
export function done(text: string): ToolOutcome {
  return { result: { status: "done", text } };
}

/** A tool in the making: its input is described once, for the model and for the check. */
export interface ToolDefinition<Shapes extends InputFields> {
  readonly name: string;
  readonly description: string;
  readonly readOnly: boolean;
  readonly input: Shapes;
  run(input: InputValues<Shapes>, context: ToolContext): Promise<ToolOutcome>;
}

/** A tool whose calls with a wrong input are answered in words and do nothing. */
export function defineTool<Shapes extends InputFields>(definition: ToolDefinition<Shapes>): Tool {
  const { name, description, readOnly } = definition;
  const input = object(definition.input);
  return {
    name,
    description,
    readOnly,
    parameters: input.schema,
    async run(given, context): Promise<ToolOutcome> {
      let read: InputValues<Shapes>;
      // Expected: whatever a model can make up.
      try {
        read = input.read(given, "");
      } catch (thrown) {
        if (thrown instanceof InvalidInput) return failed(`${name}: ${thrown.message}`);
        throw thrown;
      }
      return definition.run(read, context);
    },
  };
}
