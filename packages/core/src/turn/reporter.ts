import {
  addCost,
  addUsage,
  type Cost,
  type EventBody,
  isKnownItem,
  keepingOf,
  type TokenUsage,
} from "@flint/protocol";
import type { DriverEvent } from "../ports/index.ts";
import { wellFormed } from "../text/characters.ts";
import type { ThreadLog } from "../thread/log.ts";
import { TurnCaps } from "./caps.ts";
import { aggregateDiff } from "./decide/diff.ts";

/** Where a driver's event happened, and the totals it adds to. */
interface EventContext {
  readonly threadId: string;
  readonly turnId: string;
  readonly agent: string;
  /** The usage of the thread so far. */
  readonly usage: TokenUsage;
  /** Its cost so far. */
  readonly cost: Cost | undefined;
  readonly caps: TurnCaps;
}

/** What becomes an event at once; the position of the agent's session becomes part of the end of the turn. */
export type ReportedEvent = Exclude<DriverEvent, { position: string }>;

/** The same without streamed text. */
type ReportedItemEvent = Exclude<ReportedEvent, { delta: string }>;

/** What a reporter needs of its turn. */
export interface TurnReporterOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly log: ThreadLog;
  /** Called with what the log throws, which a driver must not see. */
  onError(error: unknown): void;
}

/** Writes what a driver reports into the log: as events of its turn, well-formed and within the limits. */
export class TurnReporter {
  readonly #options: TurnReporterOptions;
  readonly #caps = new TurnCaps();
  #hasOwnDiff = false;

  constructor(options: TurnReporterOptions) {
    this.#options = options;
  }

  /** Writes one report of this agent. Never throws. */
  report(reported: ReportedEvent, agent: string): void {
    if ("delta" in reported) this.#delta(reported);
    else this.#whole(wellFormed(reported), agent);
  }

  #delta({ type, itemId, delta }: Extract<ReportedEvent, { delta: string }>): void {
    const { threadId, turnId, log } = this.#options;
    const admitted = this.#caps.admit(type, itemId, delta);
    if (admitted !== "") log.delta({ type, threadId, turnId, itemId }, admitted);
  }

  #whole(event: ReportedItemEvent, agent: string): void {
    const { threadId, turnId, log } = this.#options;
    const { usage, cost } = log.state;
    const body = eventOf(event, { threadId, turnId, agent, usage, cost, caps: this.#caps });
    if (keepingOf(body.type) === "live") log.sendLive(body);
    else this.#store(body);
    if (event.type === "turn/diff/updated") this.#hasOwnDiff = true;
    if (event.type === "item/completed" && !this.#hasOwnDiff && isAppliedChange(event)) this.#reportDiff();
  }

  #reportDiff(): void {
    const { threadId, turnId, log } = this.#options;
    const running = log.state.turns.findLast((known) => known.id === turnId);
    if (running === undefined) return;
    this.#store({ type: "turn/diff/updated", data: { threadId, turnId, diff: aggregateDiff(running) } });
  }

  #store(body: EventBody): void {
    try {
      void this.#options.log.commit([body]);
    } catch (error) {
      // Expected: the disk refuses.
      this.#options.onError(error);
    }
  }
}

function isAppliedChange({ item }: Extract<ReportedItemEvent, { item: unknown }>): boolean {
  return isKnownItem(item) && item.type === "fileChange" && item.status === "completed";
}

/** A driver's event as an event of its thread. */
function eventOf(
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
