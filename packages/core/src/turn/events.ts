import { addCost, addUsage, type Cost, type EventBody, type TokenUsage } from "@flint/protocol";
import type { DriverEvent } from "../ports/index.ts";
import type { TurnCaps } from "./caps.ts";

/** Where a driver's event happened, and what it is added to. */
export interface EventContext {
  readonly threadId: string;
  readonly turnId: string;
  readonly agent: string;
  /** What the thread has used so far. */
  readonly usage: TokenUsage;
  /** What it has cost so far. */
  readonly cost: Cost | undefined;
  readonly caps: TurnCaps;
}

/** What a driver reports that becomes an event at once; where its session stands becomes a part of the end of the turn. */
export type ReportedEvent = Exclude<DriverEvent, { position: string }>;

/** The same without streamed text. */
export type ReportedItemEvent = Exclude<ReportedEvent, { delta: string }>;

/** A driver's event as an event of its thread. */
export function eventOf(
  event: ReportedItemEvent,
  { threadId, turnId, agent, usage, cost, caps }: EventContext,
): EventBody {
  const place = { threadId, turnId };
  switch (event.type) {
    case "item/started":
      return { type: event.type, data: { ...place, item: event.item } };
    case "item/completed":
      return { type: event.type, data: { ...place, item: caps.finish(event.item) } };
    case "turn/plan/updated":
      return { type: event.type, data: { ...place, explanation: event.explanation, plan: [...event.plan] } };
    case "turn/diff/updated":
      return { type: event.type, data: { ...place, diff: event.diff } };
    case "item/mcpToolCall/progress":
      return { type: event.type, data: { ...place, itemId: event.itemId, message: event.message } };
    case "usage": {
      const { type: _type, last, cost: ofCall, ...rest } = event;
      const total = ofCall === undefined ? {} : { cost: addCost(cost, ofCall) };
      const data = { ...place, usage: addUsage(usage, last), last, ...rest, ...total };
      return { type: "thread/tokenUsage/updated", data };
    }
    case "error":
      return { type: "error", data: { ...place, error: event.error, willRetry: event.willRetry } };
    case "model/rerouted": {
      const { type, ...rest } = event;
      return { type, data: { ...place, ...rest } };
    }
    case "session":
      return { type: "thread/session/updated", data: { threadId, agent, nativeId: event.nativeId } };
    case "extension":
      return {
        type: "extension/notified",
        data: { threadId, method: event.method, params: { ...event.params } },
      };
  }
}
