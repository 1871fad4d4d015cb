import { randomUUID } from "node:crypto";
import type { ThreadItem, UserInput } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import type { Content } from "../input/index.ts";
import type { Composer } from "./composer.ts";
import type { PromptHelp } from "./prompt-help.ts";

/** What sending needs of a session. */
export interface InputTarget {
  readonly client: FlintClient;
  readonly threadId: string | undefined;
  readonly composer: Composer;
  readonly help: PromptHelp;
  ensureThread(): Promise<string>;
  say(text: string): void;
}

/** Sends what the user writes, marked to distinguish it from the input of other clients. */
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

  /** Does what the user wrote. If that is refused, it is in the composer again, or put aside if something else is there. */
  async orRestore(content: Content, work: () => Promise<unknown>): Promise<void> {
    const { composer, help, threadId } = this.#target;
    try {
      await work();
    } catch (thrown) {
      // Another thread has a composer of its own.
      const isShown = threadId === undefined || threadId === this.#target.threadId;
      if (isShown && composer.isEmpty) composer.setContent(content);
      else {
        help.stash.push(content);
        this.#target.say(
          `Your prompt was put aside. ${help.stashKey} brings it back when the prompt is empty.`,
        );
      }
      throw thrown;
    }
  }

  /** Whether this session has sent a message. */
  isOwn(item: ThreadItem): boolean {
    const clientId: unknown = Reflect.get(item, "clientId");
    return typeof clientId === "string" && clientId.startsWith(this.#mark);
  }
}
