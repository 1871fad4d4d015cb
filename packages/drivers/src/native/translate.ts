import type { ModelPart } from "@flint/agent/model";
import type { DriverEvent } from "@flint/core/ports";
import type { Item, PlanEntry } from "@flint/protocol";
import {
  beginStream,
  closeText,
  type ItemStream,
  takeItemId as nextItemId,
  type StreamStep,
  streamText,
  updatePlan,
} from "../shared/translate.ts";
import { completeFile, endBrokenFiles, type StreamedFiles, streamFile } from "./streamed-files.ts";

type UsagePart = Extract<ModelPart, { type: "usage" }>;

/** The state of the translation of one turn. */
export interface TranslateState {
  readonly stream: ItemStream;
  /** Undefined until the model is known. */
  readonly modelContextWindow: number | undefined;
  readonly plan: Item<"plan"> | undefined;
  readonly cwd: string;
  /** The calls of file tools that the model is writing, or that wait for their tool. */
  readonly files: StreamedFiles;
}

/** The next state, and the events to emit. */
export type Step = readonly [TranslateState, readonly DriverEvent[]];

/** The state at the beginning of a turn. */
export function beginTurn(turnId: string, cwd: string, modelContextWindow?: number): TranslateState {
  return { stream: beginStream(turnId), modelContextWindow, plan: undefined, cwd, files: new Map() };
}

/** An id for an item that is reported elsewhere, and the state in which it is taken. */
export function takeItemId(state: TranslateState): readonly [TranslateState, string] {
  const [stream, id] = nextItemId(state.stream);
  return [{ ...state, stream }, id];
}

/** The item of a call, and the state in which it is taken: that of the file change if one was streamed. */
export function takeCallItem(
  state: TranslateState,
  callId: string,
): readonly [TranslateState, { readonly itemId: string; readonly isStarted: boolean }] {
  const itemId = state.files.get(callId)?.itemId;
  if (itemId === undefined) {
    const [next, id] = takeItemId(state);
    return [next, { itemId: id, isStarted: false }];
  }
  const files = new Map(state.files);
  files.delete(callId);
  return [
    { ...state, files },
    { itemId, isStarted: true },
  ];
}

/** Translates one part of a model's response: the next state, and the events to emit. No I/O, no clock, no randomness. */
export function step(state: TranslateState, part: ModelPart): Step {
  switch (part.type) {
    case "text-delta":
      return withStream(state, streamText(state.stream, "message", part.text));
    case "reasoning-delta":
      return withStream(state, streamText(state.stream, "reasoning", part.text));
    case "usage":
      return [state, [usageEvent(state, part)]];
    case "retry": {
      const [files, ended] = endBrokenFiles(state.files);
      return [{ ...state, files }, [...ended, { type: "error", error: part.error, willRetry: true }]];
    }
    case "limits":
      return [state, [part]];
    case "provider-metadata":
      return [state, []];
    case "tool-input": {
      const [stream, files, events] = streamFile(state.stream, state.files, part, state.cwd);
      return [{ ...state, stream, files }, events];
    }
    // Tool calls have items of their own; the text before them is complete.
    case "tool-call":
      return withStream({ ...state, files: completeFile(state.files, part.callId) }, closeText(state.stream));
    case "finish": {
      const [files, ended] = endBrokenFiles(state.files);
      const [next, events] = withStream({ ...state, files }, closeText(state.stream));
      return [next, [...events, ...ended]];
    }
  }
}

/** Shows the whole plan as it is now: one item for the whole turn. The id is used for the first update. */
export function showPlan(
  state: TranslateState,
  itemId: string,
  explanation: string,
  entries: readonly PlanEntry[],
): Step {
  const [closed, before] = withStream(state, closeText(state.stream));
  const [plan, events] = updatePlan(closed.plan, itemId, entries, explanation);
  return [{ ...closed, plan }, [...before, ...events]];
}

/** Completes what is still open at the end of a turn. */
export function endTurn(state: TranslateState): Step {
  const [closed, events] = withStream(state, closeText(state.stream));
  if (closed.plan === undefined) return [closed, events];
  return [{ ...closed, plan: undefined }, [...events, { type: "item/completed", item: closed.plan }]];
}

/** The state after a step of its item stream. It runs for every delta, where naming the fields beats copying them. */
function withStream(state: TranslateState, [stream, events]: StreamStep): Step {
  const { modelContextWindow, plan, cwd, files } = state;
  return [{ stream, modelContextWindow, plan, cwd, files }, events];
}

function usageEvent({ modelContextWindow }: TranslateState, part: UsagePart): DriverEvent {
  const { usage: last, cost } = part;
  return {
    type: "usage",
    last,
    ...(modelContextWindow === undefined ? {} : { modelContextWindow }),
    ...(cost === undefined ? {} : { cost }),
  };
}
