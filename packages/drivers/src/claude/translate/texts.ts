import type { DriverEvent } from "@flint/core/ports";
import type { Item } from "@flint/protocol";
import { type OpenText, type Step, type TranslateState, takeItemId, withText } from "./state.ts";

/** A piece of streamed text. */
export function stream(state: TranslateState, kind: OpenText["kind"], piece: string): Step {
  if (piece === "") return [state, []];
  const { text: open } = state;
  if (open?.kind === kind) {
    const { id, text } = open;
    return [withText(state, { kind, id, text: text + piece }), [deltaOf(open, piece)]];
  }
  const [closed, before] = closeText(state);
  const [next, id] = takeItemId(closed);
  const text = { kind, id, text: piece };
  const started: DriverEvent = { type: "item/started", item: itemOf({ ...text, text: "" }) };
  return [{ ...next, text }, [...before, started, deltaOf(text, piece)]];
}

/** A text as a whole, most of which was streamed before. What is whole counts. */
export function settleText(
  state: TranslateState,
  kind: OpenText["kind"],
  whole: string,
  partial = false,
): Step {
  const streamed = state.text?.kind === kind ? state.text : undefined;
  if (streamed !== undefined && !whole.startsWith(streamed.text)) {
    return closeText({ ...state, text: { ...streamed, text: whole } }, partial);
  }
  const [next, events] = stream(state, kind, whole.slice(streamed?.text.length ?? 0));
  const [closed, ends] = closeText(next, partial);
  return [closed, [...events, ...ends]];
}

/** Another message begins, or is there as a whole. If one still streams, it broke off, and this is the second try. */
export function otherMessage(state: TranslateState, messageId: string | undefined): Step {
  if (state.streaming === undefined || state.streaming === messageId) return [state, []];
  const [closed, events] = closeText({ ...state, streaming: undefined }, true);
  return [closed, [...events, { type: "error", error: BROKE_OFF, willRetry: true }]];
}

const BROKE_OFF = {
  message: "The answer of the model broke off. Claude tries again.",
  errorInfo: "InternalServerError",
};

/** What is streamed is complete. */
export function closeText(state: TranslateState, partial = false): Step {
  const { text } = state;
  if (text === undefined) return [state, []];
  const item = { ...itemOf(text), ...(partial ? { partial } : {}) };
  return [{ ...state, text: undefined }, [{ type: "item/completed", item }]];
}

function itemOf({ kind, id, text }: OpenText): Item<"agentMessage"> | Item<"reasoning"> {
  return kind === "text" ? { type: "agentMessage", id, text } : { type: "reasoning", id, content: text };
}

function deltaOf({ kind, id: itemId }: OpenText, delta: string): DriverEvent {
  const type = kind === "text" ? "item/agentMessage/delta" : "item/reasoning/textDelta";
  return { type, itemId, delta };
}
