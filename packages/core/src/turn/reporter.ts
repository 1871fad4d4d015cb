import { type EventBody, isKnownItem, keepingOf } from "@flint/protocol";
import { wellFormed } from "../text/characters.ts";
import type { ThreadLog } from "../thread/log.ts";
import { TurnCaps } from "./caps.ts";
import { aggregateDiff } from "./decide/diff.ts";
import { eventOf, type ReportedEvent, type ReportedItemEvent } from "./events.ts";

/** Where a driver's reports belong. */
export interface TurnReporterOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly log: ThreadLog;
  /** What the log throws; a driver is not to be surprised by it. */
  onError(error: unknown): void;
}

/** Brings what a driver reports into the log: as events of its turn, well-formed and within the limits. */
export class TurnReporter {
  readonly #options: TurnReporterOptions;
  readonly #caps = new TurnCaps();
  #hasOwnDiff = false;

  constructor(options: TurnReporterOptions) {
    this.#options = options;
  }

  /** Takes one report of this agent. Never throws. */
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
      // Expected: a disk that refuses.
      this.#options.onError(error);
    }
  }
}

function isAppliedChange({ item }: Extract<ReportedItemEvent, { item: unknown }>): boolean {
  return isKnownItem(item) && item.type === "fileChange" && item.status === "completed";
}
