import type { DriverEvent } from "@flint/core/ports";
import {
  type FileUpdateChange,
  type Item,
  NO_USAGE,
  type PlanEntry,
  type ThreadItem,
  type TokenUsage,
} from "@flint/protocol";
import type { StreamedPatch } from "../../shared/streamed-patch.ts";
import {
  beginStream,
  closeText,
  type ItemStream,
  type StreamStep,
  takeItemId,
} from "../../shared/translate.ts";

/** State that carries over from one turn to the next, for as long as one process of Claude lives. */
export interface ProcessMemory {
  /** Claude's own list of tasks, by its ids. */
  readonly tasks: ReadonlyMap<string, PlanEntry>;
  /** The usage and the cost of the process as of the end of its last turn. */
  readonly used: TokenUsage;
  readonly costUsd: number;
  readonly contextWindow: number | undefined;
}

/** The memory of a process that has just started. */
export const NEW_PROCESS: ProcessMemory = {
  tasks: new Map(),
  used: NO_USAGE,
  costUsd: 0,
  contextWindow: undefined,
};

/** The use of a tool. Its item exists from the beginning, its result does not. */
export interface ToolUse {
  readonly itemId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The item as it was last emitted; undefined for a tool that is shown in another way. */
  readonly item: ThreadItem | undefined;
  readonly isDone: boolean;
  readonly isDeclined: boolean;
  /** True if its input is still being written, so that its changes are unknown. */
  readonly isStreaming?: boolean;
}

/** A file tool whose input the model is writing. */
interface StreamedFile {
  readonly toolUseId: string;
  readonly name: string;
  readonly patch: StreamedPatch;
}

/** The state of the translation of one turn. */
export interface TranslateState {
  readonly stream: ItemStream;
  readonly cwd: string;
  /** The id of the model's message that is being streamed. */
  readonly streaming: string | undefined;
  readonly tools: ReadonlyMap<string, ToolUse>;
  readonly plan: Item<"plan"> | undefined;
  /** The hooks that run now, by Claude's ids. */
  readonly hooks: ReadonlyMap<string, Item<"hookRun">>;
  /** The file tool whose input the model is writing. */
  readonly file: StreamedFile | undefined;
  /** The usage that was emitted in this turn. */
  readonly reported: TokenUsage;
  /** The messages of sub-agents whose usage was emitted, by Claude's ids. */
  readonly counted: ReadonlySet<string>;
  /** The usage of the last call, which is emitted when the turn ends. */
  readonly deferred: TokenUsage | undefined;
  readonly memory: ProcessMemory;
}

/** The next state, and the events to emit. */
export type Step = readonly [TranslateState, readonly DriverEvent[]];

/** The changes that the file tools used in a frame make, by the id of the use. Not known for every use. */
export type FileChanges = ReadonlyMap<string, readonly FileUpdateChange[]>;

/** The state at the beginning of a turn. */
export function beginTurn(turnId: string, cwd: string, memory: ProcessMemory = NEW_PROCESS): TranslateState {
  return {
    ...{ stream: beginStream(turnId), cwd, streaming: undefined, tools: new Map(), plan: undefined },
    ...{ hooks: new Map(), file: undefined, reported: NO_USAGE, counted: new Set(), deferred: undefined },
    memory,
  };
}

/** The state after a step of its item stream. It runs for every delta, where naming the fields beats copying them. */
export function withStream(state: TranslateState, [stream, events]: StreamStep): Step {
  const { cwd, streaming, tools, plan, hooks, file, reported, counted, deferred, memory } = state;
  return [{ stream, cwd, streaming, tools, plan, hooks, file, reported, counted, deferred, memory }, events];
}

/** The state without an open text. */
export function withoutText(state: TranslateState, partial = false): Step {
  return withStream(state, closeText(state.stream, partial));
}

/** An id for an item, and the state in which it is taken. */
export function newItemId(state: TranslateState): readonly [TranslateState, string] {
  const [stream, id] = takeItemId(state.stream);
  return [{ ...state, stream }, id];
}

/** The state with a changed use of a tool. */
export function withTool(state: TranslateState, toolUseId: string, tool: ToolUse): TranslateState {
  return { ...state, tools: new Map(state.tools).set(toolUseId, tool) };
}
