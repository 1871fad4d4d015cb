import type { ModelPart } from "@flint/agent/model";
import type { DriverEvent } from "@flint/core/ports";
import type { Item, PlanEntry } from "@flint/protocol";

type UsagePart = Extract<ModelPart, { type: "usage" }>;

/** A text that is being streamed. */
interface OpenText {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly text: string;
}

/** Where the translation of one turn stands. */
export interface TranslateState {
  readonly turnId: string;
  /** Absent until the model is known. */
  readonly modelContextWindow: number | undefined;
  /** How many items the turn has so far; their ids are made of it. */
  readonly items: number;
  readonly open: OpenText | undefined;
  readonly plan: Item<"plan"> | undefined;
}

/** The next state, and what the core is told. */
export type Step = readonly [TranslateState, readonly DriverEvent[]];

/** The beginning of a turn. */
export function beginTurn(turnId: string, modelContextWindow?: number): TranslateState {
  return { turnId, modelContextWindow, items: 0, open: undefined, plan: undefined };
}

/** An id for an item that is not made here, and the state in which it is taken. */
export function takeItemId(state: TranslateState): readonly [TranslateState, string] {
  const items = state.items + 1;
  return [{ ...state, items }, `${state.turnId}-${items}`];
}

/** One part of a model's answer in, the next state and the events it means out. No I/O, no clock, no randomness. */
export function step(state: TranslateState, part: ModelPart): Step {
  switch (part.type) {
    case "text-delta":
      return stream(state, "text", part.text);
    case "reasoning-delta":
      return stream(state, "reasoning", part.text);
    case "usage":
      return [state, [usageEvent(state, part)]];
    case "retry":
      return [state, [{ type: "error", error: part.error, willRetry: true }]];
    case "provider-metadata":
      return [state, []];
    // What the model wants done has items of its own; the text before it is complete.
    case "tool-call":
    case "finish":
      return closeText(state);
  }
}

/**
 * The whole plan as it is now. The plan is one item for the whole turn; how far it is comes with every update of the
 * turn's plan. The id is used for the first of them.
 */
export function showPlan(
  state: TranslateState,
  itemId: string,
  explanation: string,
  entries: readonly PlanEntry[],
): Step {
  const [closed, before] = closeText(state);
  const updated: DriverEvent = { type: "turn/plan/updated", explanation, plan: entries };
  const text = entries.map((entry, index) => `${index + 1}. ${entry.step}`).join("\n");
  if (closed.plan !== undefined) {
    return [{ ...closed, plan: { ...closed.plan, text, entries: [...entries] } }, [...before, updated]];
  }
  const plan: Item<"plan"> = { type: "plan", id: itemId, text, entries: [...entries] };
  return [{ ...closed, plan }, [...before, { type: "item/started", item: plan }, updated]];
}

/** The end of a turn that was worked to its end: what is still open is complete. */
export function endTurn(state: TranslateState): Step {
  const [closed, events] = closeText(state);
  if (closed.plan === undefined) return [closed, events];
  return [{ ...closed, plan: undefined }, [...events, { type: "item/completed", item: closed.plan }]];
}

function stream(state: TranslateState, kind: OpenText["kind"], text: string): Step {
  if (text === "") return [state, []];
  if (state.open?.kind === kind) {
    const open = { ...state.open, text: state.open.text + text };
    return [{ ...state, open }, [deltaOf(kind, open.id, text)]];
  }
  const [closed, before] = closeText(state);
  const [next, id] = takeItemId(closed);
  const started: DriverEvent = { type: "item/started", item: itemOf({ kind, id, text: "" }) };
  return [{ ...next, open: { kind, id, text } }, [...before, started, deltaOf(kind, id, text)]];
}

function closeText(state: TranslateState): Step {
  if (state.open === undefined) return [state, []];
  return [{ ...state, open: undefined }, [{ type: "item/completed", item: itemOf(state.open) }]];
}

function itemOf({ kind, id, text }: OpenText): Item<"agentMessage"> | Item<"reasoning"> {
  return kind === "text" ? { type: "agentMessage", id, text } : { type: "reasoning", id, content: text };
}

function deltaOf(kind: OpenText["kind"], itemId: string, delta: string): DriverEvent {
  const type = kind === "text" ? "item/agentMessage/delta" : "item/reasoning/textDelta";
  return { type, itemId, delta };
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
