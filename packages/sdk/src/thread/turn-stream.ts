import type { AppServerClient } from "../client/app-server-client.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { EventStream } from "../events/event-stream.ts";
import { type Input, type TurnOptions, type TurnResult, TurnRun } from "./turn-run.ts";

/**
 * A turn as it happens: its events, and those of its thread that belong to no turn, up to and with `turn/completed`.
 * A failed turn ends the events as any other and rejects `result`. Leaving the loop does not stop the turn; the signal
 * does.
 */
export class TurnStream implements AsyncIterable<AgentEvent> {
  readonly result: Promise<TurnResult>;
  readonly #events: EventStream;

  constructor(client: AppServerClient, threadId: string, input: Input, options: TurnOptions) {
    this.#events = new EventStream(client.buffer);
    const run = new TurnRun(client, threadId, options, {
      event: (event) => this.#events.push(event),
      ended: (error) => this.#events.end(error),
    });
    this.result = run.result;
    void run.start(input);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    return this.#events;
  }
}
