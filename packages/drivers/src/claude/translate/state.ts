import type { DriverEvent } from "@flint/core/ports";
import {
  type FileUpdateChange,
  type Item,
  NO_USAGE,
  type PlanEntry,
  type ThreadItem,
  type TokenUsage,
} from "@flint/protocol";

/** What is remembered from one turn to the next, for as long as one process of Claude lives. */
export interface Memory {
  /** Claude's own list of tasks, by its ids. */
  readonly tasks: ReadonlyMap<string, PlanEntry>;
  /** What the process said at the end of the last turn that it used and cost in all. */
  readonly used: TokenUsage;
  readonly costUsd: number;
  readonly contextWindow: number | undefined;
}

/** What is known about a process that was just started. */
export const FRESH_MEMORY: Memory = {
  tasks: new Map(),
  used: NO_USAGE,
  costUsd: 0,
  contextWindow: undefined,
};

/** A text that is being streamed. */
export interface OpenText {
  readonly kind: "text" | "thinking";
  readonly id: string;
  readonly text: string;
}

/** The use of a tool. Its item is there from the beginning, its result is not. */
export interface ToolUse {
  readonly itemId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The item as it was told last; none for what is told in another way. */
  readonly item: ThreadItem | undefined;
  readonly isDone: boolean;
  readonly isDeclined: boolean;
}

/** Where the translation of one turn stands. */
export interface TranslateState {
  readonly turnId: string;
  readonly cwd: string;
  /** How many items the turn has so far; their ids are made of it. */
  readonly items: number;
  readonly text: OpenText | undefined;
  /** The message of the model that streams and has not ended. */
  readonly streaming: string | undefined;
  readonly tools: ReadonlyMap<string, ToolUse>;
  readonly plan: Item<"plan"> | undefined;
  /** What was told of the tokens of this turn. */
  readonly told: TokenUsage;
  /** The tokens of a call that are told when the turn ends. */
  readonly held: TokenUsage | undefined;
  readonly memory: Memory;
}

/** The next state, and what the core is told. */
export type Step = readonly [TranslateState, readonly DriverEvent[]];

/** What the uses of file tools in a frame mean for the files, by the id of the use. Not known for every one. */
export type FileChanges = ReadonlyMap<string, readonly FileUpdateChange[]>;

/** The beginning of a turn. */
export function beginTurn(turnId: string, cwd: string, memory: Memory = FRESH_MEMORY): TranslateState {
  return {
    ...{ turnId, cwd, memory, items: 0, text: undefined, streaming: undefined },
    ...{ plan: undefined, tools: new Map(), told: NO_USAGE, held: undefined },
  };
}

/** An id for an item, and the state in which it is taken. */
export function takeItemId(state: TranslateState): readonly [TranslateState, string] {
  const items = state.items + 1;
  return [{ ...state, items }, `${state.turnId}-${items}`];
}

/** The state with more text. It comes with every piece, and naming the fields is much faster than copying them. */
export function withText(state: TranslateState, text: OpenText): TranslateState {
  const { turnId, cwd, items, streaming, tools, plan, told, held, memory } = state;
  return { turnId, cwd, items, text, streaming, tools, plan, told, held, memory };
}

/** The state with one use of a tool as it is now. */
export function withTool(state: TranslateState, toolUseId: string, tool: ToolUse): TranslateState {
  return { ...state, tools: new Map(state.tools).set(toolUseId, tool) };
}
