import { errorMessage } from "@flint/protocol";
import { isLost } from "../../app/connection.ts";
import type { LineBlock } from "../../draw/line.ts";
import { keyIn } from "../../pages/key-name.ts";
import type { ConnectionState, NewThreadSettings, SessionContext, ThreadControls } from "../context.ts";
import type { InlineTranscript } from "../inline-transcript.ts";
import { STOPPING_MS } from "../other-clients/own-changes.ts";
import type { PromptHelp } from "../prompt-help.ts";
import type { SentInputs } from "../sent-inputs.ts";
import { headerBlock } from "../status/header.ts";
import type { OtherThreads } from "../status/other-threads.ts";
import type { OpenThread } from "./open-thread.ts";

/** The parts of a session that change with its thread. */
export interface ThreadSurroundings extends Omit<SessionContext, "thread" | "inputs"> {
  readonly transcript: InlineTranscript;
  readonly help: PromptHelp;
  readonly others: OtherThreads;
  readonly inputs: SentInputs;
  readonly link: ConnectionState;
}

/** Brings a session to a thread, to a new one, and back to its own after a lost connection: transcript and draft follow. */
export class CurrentThread implements ThreadControls {
  readonly #session: ThreadSurroundings;
  readonly #open: OpenThread;

  constructor(session: ThreadSurroundings, open: OpenThread) {
    this.#session = session;
    this.#open = open;
  }

  /** The header of a thread: its agent, model, permissions and folder. */
  get header(): LineBlock | undefined {
    const { settings, machine, look } = this.#session;
    if (settings === undefined) return undefined;
    return headerBlock(settings, this.#session.describePermissions(settings), machine, look);
  }

  /** The server can be reached: attaches to the thread again, or reads what a new one will have. */
  async connected(): Promise<void> {
    if (this.#open.id !== undefined) await this.#attachAgain();
    else if (this.#session.link === "lost") this.#session.warn("Connected again.");
    if (this.#open.id === undefined) await this.#unlessLost(this.#open.readDefaults());
  }

  /** Begins without a thread: prints what a new one will use, and brings back what was being written. */
  begin(): void {
    this.#putHeader();
    this.#session.help.bringDraft(this.#session.composer);
  }

  /** Opens a thread. What was written before the first one belongs to it. */
  async open(threadId: string, isFirst = false): Promise<void> {
    await this.#switchTo(threadId, isFirst);
    const { state, turns, transcript, look } = this.#session;
    const left = state === undefined ? 0 : transcript.begin(state, this.header);
    if (left === 0 && turns.isComplete) return;
    const one = left === 1 ? "1 earlier turn is" : `${left} earlier turns are`;
    const earlier = turns.isComplete ? one : "Earlier turns are";
    this.#session.say(`${earlier} not printed. ${keyIn(look, "showTranscript")} shows the whole thread.`);
  }

  /** Goes over to a new thread, which the next prompt starts. */
  async startNew(): Promise<void> {
    await this.#switchTo(undefined);
    this.#putHeader();
  }

  async ensure(): Promise<string> {
    const threadId = await this.#open.ensure();
    this.#session.others.shows(threadId);
    return threadId;
  }

  /** Prints the end of the thread again, as wide as the terminal is now. */
  printAgain(): void {
    this.#session.transcript.again(this.#session.state);
    this.#putHeader();
  }

  change(settings: Partial<NewThreadSettings>): Promise<void> {
    return this.#session.ownChanges.ask("thread/settings/updated", () => this.#open.change(settings));
  }

  setControl(id: string, value: string): Promise<void> {
    return this.#session.ownChanges.ask("thread/settings/updated", () => this.#open.setControl(id, value));
  }

  /** Interrupts the running turn. */
  interrupt(): void {
    const { ownChanges } = this.#session;
    this.#session.run(() => ownChanges.ask("turn/completed", () => this.#open.interrupt(), STOPPING_MS));
  }

  /** The thread does not exist any more. What is being written is for a new one. */
  deleted(client: string | undefined): void {
    this.#drop();
    this.#session.run(async () => {
      await this.#open.readDefaults();
      const by = client === undefined ? "" : ` by ${client}`;
      this.#session.warn(`This thread was deleted${by}. Your next prompt starts a new one.`);
      this.#putHeader();
    });
  }

  #putHeader(): void {
    if (this.header !== undefined) this.#session.put(this.header);
  }

  /** Switches to a thread. The unfinished prompt stays with its own thread. */
  async #switchTo(threadId: string | undefined, keepsInput = false): Promise<void> {
    const { help, composer, transcript, others } = this.#session;
    if (!keepsInput) help.keepDraft(composer);
    await this.#open.switchTo(threadId);
    transcript.leave();
    others.shows(threadId);
    if (!keepsInput) composer.clear();
    help.bringDraft(composer);
    // The agent of the thread has commands of its own.
    help.completer.refresh();
  }

  /** The thread cannot be used any more: the next prompt starts a new one. */
  #drop(): void {
    const { help, transcript, others } = this.#session;
    this.#open.drop();
    transcript.leave();
    others.shows(undefined);
    help.completer.refresh();
  }

  async #attachAgain(): Promise<void> {
    const missed = await this.#unlessLost(this.#open.attachAgain(), "Your next prompt starts a new one.");
    if (missed === undefined) {
      this.#drop();
      // It was meant for that thread.
      this.#session.inputs.takeLater();
      return;
    }
    const shown = missed > 0 ? ` ${missed} missed events are shown now.` : "";
    this.#session.warn(`Connected again.${shown}`);
  }

  /** Waits for an answer of the server. If that fails, a warning says so and the session goes on; not if the server is lost. */
  async #unlessLost<Answer>(answer: Promise<Answer>, then = ""): Promise<Answer | undefined> {
    try {
      return await answer;
    } catch (thrown) {
      // Expected: the thread was deleted, its log cannot be read, or the answer cannot be understood.
      if (isLost(thrown)) throw thrown;
      this.#session.warn(`${errorMessage(thrown)} ${then}`.trimEnd());
      return undefined;
    }
  }
}
