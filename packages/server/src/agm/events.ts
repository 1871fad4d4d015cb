import { errorMessage, type PublishedEvent } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import type { EventSink } from "@flint/tasks";
import type { FleetOptions } from "../fleet/fleet-options.ts";

/** The sink for the events of agm, and the source of those of tasks. */
export interface AgmEvents extends EventSink {
  /** Writes the events of tasks as lines from now on. Rejects if they are elsewhere. */
  follow(): Promise<void>;
  /** Writes what belongs after an answer. */
  afterAnswer(): Promise<void>;
  /** Resolves once everything was sent, or could not be. */
  close(): Promise<void>;
}

/** Dependencies of the events. */
export interface AgmEventsOptions {
  readonly client: FlintClient;
  readonly fleet?: Pick<FleetOptions, "redis" | "events"> | undefined;
  write(line: string): Promise<void>;
  onProblem(problem: string): void;
}

/** Opens the events: in Redis in a fleet, else as lines. */
export async function openEvents(options: AgmEventsOptions): Promise<AgmEvents> {
  const { client, fleet, onProblem } = options;
  if (fleet === undefined) return new LineEvents(options);
  const { EventStream, openConnection } = await import("@flint/tasks/fleet");
  const redis = await openConnection(fleet.redis);
  const stream = new EventStream({ ...fleet.events, redis, onProblem });
  return {
    publish: (news) => stream.publish(news),
    follow: async () => void (await client.call("task/subscribe", {})),
    afterAnswer: async () => undefined,
    close: async () => {
      await stream.close();
      redis.disconnect();
    },
  };
}

/** Events without Redis: lines here, and notifications of the server for other clients. */
class LineEvents implements AgmEvents {
  readonly #options: AgmEventsOptions;
  #waiting: PublishedEvent[] = [];
  #announced: Promise<unknown> = Promise.resolve();
  #written: Promise<unknown> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;

  constructor(options: AgmEventsOptions) {
    this.#options = options;
  }

  publish(news: PublishedEvent): void {
    const { client, onProblem } = this.#options;
    // One that follows gets its own messages from the server too.
    if (this.#unsubscribe === undefined) this.#waiting.push(news);
    const event = { ...news, type: "session:message" as const };
    this.#announced = this.#announced
      .then(() => client.call("task/publish", { event }))
      // Expected: a server of an earlier version, or one that has gone. The message itself is stored.
      .catch((thrown: unknown) =>
        onProblem(`Other programs do not get the message: ${errorMessage(thrown)}`),
      );
  }

  async follow(): Promise<void> {
    if (this.#unsubscribe !== undefined) return;
    const { client } = this.#options;
    this.#unsubscribe = client.subscribe({
      event: (event) => {
        if (event.type === "task/event") void this.#write(event.data.event);
      },
      ended: () => {},
    });
    await client.call("task/subscribe", {});
  }

  async afterAnswer(): Promise<void> {
    for (const news of this.#waiting.splice(0)) await this.#write(news);
  }

  async close(): Promise<void> {
    await this.#announced;
    this.#unsubscribe?.();
    await this.#written;
  }

  #write(news: PublishedEvent): Promise<unknown> {
    const line = `${JSON.stringify(news)}\n`;
    this.#written = this.#written.then(() => this.#options.write(line));
    return this.#written;
  }
}
