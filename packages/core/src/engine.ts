import type { PublishedEvent } from "@flint/protocol";
import { ClientSession } from "./client-session.ts";
import { type EngineOptions, Services } from "./services.ts";
import type { Subscriber } from "./thread/subscription.ts";

/** The core of a server: threads, turns and approvals. It knows no wire and no agent by name. */
export class Engine {
  readonly #services: Services;

  constructor(options: EngineOptions) {
    this.#services = new Services(options);
  }

  /** Removes keys and the secrets that this engine knows from a text. */
  redact(text: string): string {
    return this.#services.redactor.text(text);
  }

  /** Sends an event of a task to the clients that follow the tasks. */
  publishTaskEvent(event: PublishedEvent): void {
    this.#services.publishTaskEvent(event);
  }

  /** Reports whether a turn or an agent's background work is running in any thread. */
  get isWorking(): boolean {
    return this.#services.registry.isWorking || this.#services.options.tasks?.isWorking === true;
  }

  /**
   * Connects a client. It receives the events of a thread once it starts, resumes or attaches to it. What it does
   * without naming a folder happens in `cwd`, or else in the server's own.
   */
  connect(subscriber: Subscriber, cwd?: string): ClientSession {
    return new ClientSession(this.#services, subscriber, cwd);
  }

  /** Stops all turns, stores everything and ends all agents. */
  close(): Promise<void> {
    return this.#services.close();
  }
}
