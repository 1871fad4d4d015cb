import { randomUUID } from "node:crypto";
import type { ThreadItem, UserInput } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";

/** What sending needs of a session. */
export interface InputTarget {
  readonly client: FlintClient;
  ensureThread(): Promise<string>;
  say(text: string): void;
}

/** Sends what the user writes, marked so that the input of other clients can be told apart. */
export class SentInputs {
  readonly #target: InputTarget;
  readonly #mark = `terminal-${randomUUID()}`;
  #sent = 0;

  constructor(target: InputTarget) {
    this.#target = target;
  }

  /** Sends input as a turn; while a turn runs it steers that, or is queued, which is said. */
  async send(input: UserInput[], delivery: "steer" | "queue"): Promise<void> {
    const threadId = await this.#target.ensureThread();
    this.#sent += 1;
    const clientId = `${this.#mark}-${this.#sent}`;
    const params = { threadId, input, delivery, clientId };
    const { queuedInput } = await this.#target.client.call("turn/start", params);
    if (queuedInput === undefined) return;
    const why =
      delivery === "steer" ? "This agent takes no input while it works, so it is queued." : "Queued.";
    this.#target.say(`${why} Alt-Up edits the queue.`);
  }

  /** Whether this session has sent a message. */
  isOwn(item: ThreadItem): boolean {
    const clientId: unknown = Reflect.get(item, "clientId");
    return typeof clientId === "string" && clientId.startsWith(this.#mark);
  }
}
