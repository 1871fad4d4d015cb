import type { Clock } from "@flint/core/ports";
import type { ThreadEvent } from "@flint/protocol";
import type { Encoded } from "../../shared/encoder.ts";
import type { CodexMessage } from "../events/events.ts";
import {
  DeferredStart,
  DeferredUsage,
  FileChangeOrder,
  type Line,
  type Stage,
  StatusChanges,
} from "./stages.ts";

/** Dependencies of a stage. `forward` sends an event that it held back to the next stage. */
interface StageContext {
  readonly clock: Clock;
  forward(event: ThreadEvent): void;
}

/** The stages that events pass, first to last. Each sees what the one before it passes on. */
const EVENT_STAGES: readonly ((context: StageContext) => Stage<ThreadEvent>)[] = [
  () => new FileChangeOrder(),
  () => new DeferredUsage(),
  ({ clock, forward }) => new DeferredStart(clock, forward),
];

/** The source and the destination of the messages that are ordered for one client. */
export interface OrderingOptions {
  readonly clock: Clock;
  /** Converts an event to encoded messages. */
  encode(event: ThreadEvent): readonly Encoded<CodexMessage>[];
  send(message: Encoded<CodexMessage>): void;
}

/** Puts what one client is sent into the order of Codex: events pass their stages, are encoded, and pass `StatusChanges`. */
export class Ordering {
  readonly #options: OrderingOptions;
  readonly #stages: readonly Stage<ThreadEvent>[];
  readonly #statuses = new StatusChanges();

  constructor(options: OrderingOptions) {
    this.#options = options;
    this.#stages = EVENT_STAGES.map((create, index) =>
      create({ clock: options.clock, forward: (event) => this.#pass(event, index + 1) }),
    );
  }

  /** Takes an event of a thread that the client is subscribed to. */
  event(event: ThreadEvent): void {
    this.#pass(event, 0);
  }

  /** Takes an event of which nothing has to wait. */
  immediate(event: ThreadEvent): void {
    this.#pass(event, this.#stages.length);
  }

  /** Takes a notification that is not about an event. */
  line(line: Line): void {
    for (const passed of this.#statuses.pass(line)) this.#options.send(passed);
  }

  /** The client learned a status from an answer, and need not be sent it. */
  learnStatus(...status: Parameters<StatusChanges["learn"]>): void {
    this.#statuses.learn(...status);
  }

  /** The client is not subscribed to a thread any more; to none, if none is named. */
  forget(threadId?: string): void {
    for (const stage of [...this.#stages, this.#statuses]) stage.forget(threadId);
  }

  #pass(event: ThreadEvent, index: number): void {
    const stage = this.#stages[index];
    if (stage === undefined) this.#encoded(event);
    else for (const passed of stage.pass(event)) this.#pass(passed, index + 1);
  }

  #encoded(event: ThreadEvent): void {
    for (const message of this.#options.encode(event)) {
      if (message.kind === "line") this.line(message);
      else this.#options.send(message);
    }
  }
}
