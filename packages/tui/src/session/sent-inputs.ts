import { randomUUID } from "node:crypto";
import type { QueuedInput, ThreadItem, Turn, UserInput } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import type { Row } from "@flint/view";
import type { Keymap } from "@flint/view/commands";
import type { RenderOptions } from "../draw/render-options.ts";
import type { Content } from "../input/index.ts";
import { keyName } from "../pages/key-name.ts";
import type { Composer } from "./composer.ts";
import type { PromptSender, ThreadControls } from "./context.ts";
import type { PromptHelp } from "./prompt-help.ts";

/** Prefix of the ids of inputs that terminal sessions send. */
const SENDER = "terminal-";

/** Dependencies of sending on a session. */
export interface InputTarget {
  readonly client: FlintClient;
  readonly threadId: string | undefined;
  readonly composer: Composer;
  readonly help: PromptHelp;
  readonly keymap: Keymap;
  readonly look: RenderOptions;
  readonly thread: Pick<ThreadControls, "ensure">;
  say(text: string): void;
  run(work: () => Promise<unknown>): void;
}

/** Delivery of input: it steers the running turn, or waits for its end. */
export type Delivery = "steer" | "queue";

/** Sends what the user writes, marked to distinguish it from the input of other clients. */
export class SentInputs implements PromptSender {
  readonly #target: InputTarget;
  readonly #mark = `${SENDER}${randomUUID()}`;
  #sent = 0;
  /** The prompt that was held back last, because it may not be meant for the agent. */
  #delayed: string | undefined;
  #later: { readonly text: string; readonly delivery: Delivery } | undefined;

  constructor(target: InputTarget) {
    this.#target = target;
  }

  sendText(text: string, delivery: Delivery): void {
    this.submit([text], () => this.send([{ type: "text", text }], delivery));
  }

  /** Sends input as a turn; while a turn runs it steers that, or is queued, which is said. */
  async send(input: UserInput[], delivery: Delivery): Promise<void> {
    const threadId = await this.#target.thread.ensure();
    this.#sent += 1;
    const clientId = `${this.#mark}-${this.#sent}`;
    const params = { threadId, input, delivery, clientId };
    const { queuedInput } = await this.#target.client.call("turn/start", params);
    if (queuedInput === undefined) return;
    const why =
      delivery === "steer" ? "This agent does not accept input during a turn; it stays queued." : "Queued.";
    this.#target.say(`${why} ${keyName(this.#target, "editQueue") || "/queue"} edits the queue.`);
  }

  /** Reports whether this session sent an input. */
  isOwn(clientId: string | undefined): boolean {
    return clientId?.startsWith(`${this.#mark}-`) === true;
  }

  /** Notes that what is in the composer now is to be sent once the server can be reached. */
  sendLater(delivery: Delivery): void {
    this.#later = { text: this.#target.composer.text, delivery };
    this.#target.say("Your prompt is sent as soon as the server can be reached.");
  }

  /** Reports whether to hold a prompt back once. A second Enter right after that sends it. */
  holdsBack(text: string): boolean {
    const isAgain = this.#delayed === text;
    this.#delayed = isAgain ? undefined : text;
    return !isAgain;
  }

  /**
   * Returns the delivery of the text in the composer, if it was to be sent later and nothing was edited
   * since.
   */
  takeLater(): Delivery | undefined {
    const later = this.#later;
    this.#later = undefined;
    return later?.text === this.#target.composer.text ? later.delivery : undefined;
  }

  /** Does what the user wrote, and shows its failure. */
  submit(content: Content, work: () => Promise<unknown>): void {
    this.#target.run(() => this.#orRestore(content, work));
  }

  /** Does what the user wrote. If that is refused, it is in the composer again, or put aside if something else is there. */
  async #orRestore(content: Content, work: () => Promise<unknown>): Promise<void> {
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
}

/** The row of a prompt without its sender, if that is a terminal session: this one, or an earlier one of the thread. */
export function withoutOwnName(turn: Turn | undefined, row: Row): Row {
  if (row.family !== "user" || row.meta.length === 0) return row;
  const item = turn?.items.find(({ id }) => id === row.itemId);
  return item !== undefined && isFromTerminal(item) ? { ...row, meta: [] } : row;
}

/** The name of the client that a queued input is from, unless that is a terminal session. */
export function otherSender(queued: QueuedInput): string | undefined {
  return isFromTerminal(queued) ? undefined : queued.client;
}

function isFromTerminal(sent: ThreadItem | QueuedInput): boolean {
  const clientId: unknown = Reflect.get(sent, "clientId");
  return typeof clientId === "string" && clientId.startsWith(SENDER);
}
