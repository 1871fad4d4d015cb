import type { Clock } from "@flint/core/ports";
import {
  errorMessage,
  isRecord,
  type ThreadSettings,
  type ThreadState,
  threadIdOf,
  type UserInput,
} from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import type { Keymap, StatusPart, Theme } from "@flint/view/commands";
import { isLost, type SessionServer } from "../app/connection.ts";
import { notice, noticeOf } from "../draw/draw-blocks.ts";
import type { LineBlock } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { type Content, keyLabel } from "../input/index.ts";
import { closeKeyIn, keyIn } from "../pages/key-name.ts";
import type { AllTurns } from "./all-turns.ts";
import { outcomeNotice, SentAnswers } from "./answers.ts";
import { AskPanel } from "./ask-panel.ts";
import { loginResult } from "./commands/server/login.ts";
import { Composer } from "./composer.ts";
import type { Machine, NewThreadSettings, Page, PermissionChoice, SessionContext } from "./context.ts";
import { InlineTranscript } from "./inline-transcript.ts";
import { Menu, type MenuOptions } from "./menu.ts";
import { OpenThread } from "./open-thread.ts";
import { changeNotice } from "./other-clients/change-notice.ts";
import { OwnChanges, STOPPING_MS } from "./other-clients/own-changes.ts";
import { PromptHelp } from "./prompt-help.ts";
import { SentInputs } from "./sent-inputs.ts";
import { headerBlock } from "./status/header.ts";
import { OtherThreads } from "./status/other-threads.ts";
import { StatusLine } from "./status/status-line.ts";

/** Options of a session. */
export interface SessionParts {
  readonly machine: Machine;
  readonly keymap: Keymap;
  readonly permissions: readonly PermissionChoice[];
  readonly describePermissions: (settings: ThreadSettings) => string;
  readonly settings: NewThreadSettings;
  readonly statusLine: readonly StatusPart[];
  readonly look: () => RenderOptions;
  /** The same with as many columns as the rows of the transcript have. */
  readonly transcriptLook: () => RenderOptions;
  readonly now: () => number;
  /** Called whenever something may look different. */
  readonly changed: () => void;
  /** False if the terminal has no clipboard. */
  readonly copy: (text: string) => boolean;
  readonly clock: Clock;
  /** Leaves the terminal to another program, and takes it back. */
  readonly release: () => void;
  readonly restore: () => void;
  readonly quit: () => void;
  readonly suspend: () => void;
  readonly redraw: () => void;
  /** Tries to reach the server. */
  readonly connect: () => void;
  /** Whether finished rows are in the scrollback of the terminal, where they cannot be drawn again. */
  readonly hasScrollback: boolean;
  readonly theme: () => Theme;
  readonly setTheme: (theme: Theme) => void;
}

/** The events after which lists of threads look different. */
const REFRESHING: readonly string[] = [
  ...[
    "thread/status/changed",
    "thread/name/updated",
    "thread/archived",
    "thread/unarchived",
    "thread/deleted",
  ],
  ...["approval/requested", "approval/resolved", "question/requested", "question/resolved"],
];

/** How the session and its server stand. */
export type ConnectionState = "connecting" | "open" | "lost" | "failed";

/** One thread, what the user is writing, and what is shown of both. It does no I/O but through its client and its parts. */
export class Session implements SessionContext {
  readonly composer = new Composer();
  readonly asks: AskPanel;
  readonly transcript: InlineTranscript;
  readonly help: PromptHelp;
  menu: Menu | undefined;
  notice: string | undefined;
  link: ConnectionState = "connecting";
  lastRevert: string | undefined;
  readonly others: OtherThreads;
  readonly statusLine: StatusLine;
  readonly now: () => number;
  readonly #thread: OpenThread;
  readonly #parts: SessionParts;
  readonly inputs = new SentInputs(this);
  readonly ownChanges = new OwnChanges(() => this.now());
  readonly answers = new SentAnswers(this);
  #page: Page | undefined;
  #client: FlintClient | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.now = parts.now;
    this.#thread = new OpenThread(() => this.client, parts.settings);
    this.others = new OtherThreads(
      () => this.client,
      () => this.changed(),
    );
    this.statusLine = new StatusLine(this, this.others, parts.statusLine);
    const [all = ""] = parts.keymap.keys.showTranscript;
    this.transcript = new InlineTranscript({
      look: parts.transcriptLook,
      now: parts.now,
      how: all === "" ? undefined : `${keyLabel(all)} shows all`,
    });
    this.help = new PromptHelp(this, parts.clock);
    this.asks = new AskPanel(this.answers);
  }

  get machine(): Machine {
    return this.#parts.machine;
  }
  get keymap(): Keymap {
    return this.#parts.keymap;
  }
  get permissions(): readonly PermissionChoice[] {
    return this.#parts.permissions;
  }
  get look(): RenderOptions {
    return this.#parts.look();
  }
  get transcriptLook(): RenderOptions {
    return this.#parts.transcriptLook();
  }
  get threadId(): string | undefined {
    return this.#thread.id;
  }
  get state(): ThreadState | undefined {
    return this.#thread.state;
  }

  get turns(): AllTurns {
    return this.#thread.turns;
  }

  get settings(): ThreadSettings | undefined {
    return this.#thread.settings;
  }

  get page(): Page | undefined {
    return this.#page;
  }
  set page(page: Page | undefined) {
    if (page !== this.#page) this.#page?.close?.();
    this.#page = page;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  get client(): FlintClient {
    if (this.#client === undefined) throw new Error("The server cannot be reached at the moment.");
    return this.#client;
  }

  /** The server can be reached, for the first time or again. What the user enters is sent once the session is `ready`. */
  async opened({ client, notice: about }: SessionServer): Promise<void> {
    this.#client = client;
    if (about !== undefined) this.warn(about);
    if (this.#thread.id !== undefined) await this.#attachAgain();
    if (this.#thread.id === undefined) await this.#unlessLost(this.#thread.readDefaults());
    this.run(() => Promise.all([this.others.load(), this.statusLine.load()]));
    // Expected: an agent that cannot list its models now. Then their names are not completed.
    void client.models().then(
      (models) => this.help.setModels(models),
      () => undefined,
    );
    this.changed();
  }

  /** The thread that was asked for is open: what the user enters is sent from now on, unless the server is lost already. */
  ready({ client }: SessionServer): void {
    if (this.#client === client) this.link = "open";
    this.changed();
  }

  /** Tries again to reach the server. */
  connect(): void {
    this.link = "connecting";
    this.#parts.connect();
    this.changed();
  }

  /** The server cannot be used; `again` says whether that is tried further. */
  lost(reason: string, again: boolean): void {
    this.#client = undefined;
    if (this.link !== "lost") this.warn(`${reason} ${again ? "Connecting again." : "Enter tries again."}`);
    this.link = again ? "lost" : "failed";
    this.changed();
  }

  /** Something happened in this thread or another. */
  event(event: AgentEvent): void {
    if (this.#isOwn(event)) this.#ownEvent(event);
    if (event.type === "thread/status/changed") this.others.note(event.data.threadId, event.data.status);
    if (event.type === "thread/deleted") this.others.forget(event.data.threadId);
    const login = loginResult(event);
    if (login !== undefined) this.warn(login);
    this.statusLine.event(event);
    this.page?.event?.(event);
    if (REFRESHING.includes(event.type)) this.page?.refresh?.();
    this.changed();
  }

  say(text: string): void {
    this.notice = escapeControls(text).replaceAll("\n", " ");
    this.changed();
  }

  warn(text: string): void {
    this.put(notice(marksFor(this.look.unicode).warning, "yellow", text));
  }

  put(block: LineBlock): void {
    this.transcript.put(block);
    this.changed();
  }

  run(work: () => Promise<unknown>): void {
    const failed = (thrown: unknown) => this.warn(errorMessage(thrown));
    // Expected: the server refuses, or is gone. Either is something to tell the user.
    try {
      void work().then(() => this.changed(), failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  openMenu(menu: MenuOptions, selected?: number): void {
    // What interrupts the turn while one runs does not only close the menu.
    const closeKey = () =>
      (this.state?.activeTurnId === undefined ? keyIn : closeKeyIn)(this.look, "menuCancel");
    this.menu = new Menu(menu, selected, { isNumbered: this.look.isPlain, closeKey });
    this.changed();
  }

  closeMenu(): void {
    this.menu = undefined;
    this.changed();
  }

  noteRevert(revertId: string | undefined): void {
    this.lastRevert = revertId;
  }

  get theme(): Theme {
    return this.#parts.theme();
  }

  /** Uses these colours, now and in later sessions. */
  setTheme(theme: Theme): void {
    this.#parts.setTheme(theme);
    this.run(() => this.machine.setConfig("theme", theme));
  }

  /** Shows these parts in the status line, now and in later sessions. */
  setStatusLine(parts: readonly StatusPart[]): void {
    this.statusLine.parts = parts;
    this.run(() => this.machine.setConfig("status_line", parts));
    this.run(() => this.statusLine.load());
  }

  openPage(page: Page): void {
    this.page = page;
    this.changed();
  }

  changed(): void {
    this.#parts.changed();
  }

  copy(text: string): boolean {
    return this.#parts.copy(text);
  }
  quit(): void {
    this.help.keepDraft(this.composer);
    this.help.close();
    this.#parts.quit();
  }

  release(): void {
    this.#parts.release();
  }
  restore(): void {
    this.#parts.restore();
  }
  suspend(): void {
    this.#parts.suspend();
  }
  redraw(): void {
    this.#parts.redraw();
  }

  /** Whether what was printed stays as it is when the terminal gets another width. */
  get hasScrollback(): boolean {
    return this.#parts.hasScrollback;
  }

  /** Prints the end of the thread again, as wide as the terminal is now. */
  printAgain(): void {
    this.transcript.again(this.state);
    if (this.header !== undefined) this.put(this.header);
  }
  describePermissions(settings: ThreadSettings): string {
    return this.#parts.describePermissions(settings);
  }

  change(settings: Partial<NewThreadSettings>): Promise<void> {
    return this.ownChanges.ask("thread/settings/updated", () => this.#thread.change(settings));
  }

  setControl(id: string, value: string): Promise<void> {
    return this.ownChanges.ask("thread/settings/updated", () => this.#thread.setControl(id, value));
  }

  /** Opens a thread. What was written before the first one belongs to it. */
  async openThread(threadId: string, isFirst = false): Promise<void> {
    await this.#switchTo(threadId, isFirst);
    const left = this.state === undefined ? 0 : this.transcript.begin(this.state, this.header);
    if (left === 0 && this.turns.isComplete) return;
    const one = left === 1 ? "1 earlier turn is" : `${left} earlier turns are`;
    const turns = this.turns.isComplete ? one : "Earlier turns are";
    this.say(`${turns} not printed. ${keyIn(this.look, "showTranscript")} shows the whole thread.`);
  }

  /** Begins without a thread: prints what a new one will use, and brings back what was being written. */
  begin(): void {
    if (this.header !== undefined) this.put(this.header);
    this.help.bringDraft(this.composer);
  }

  /** Goes over to a new thread, which the next prompt starts. */
  async newThread(): Promise<void> {
    await this.#switchTo(undefined);
    if (this.header !== undefined) this.put(this.header);
  }

  async ensureThread(): Promise<string> {
    const threadId = await this.#thread.ensure();
    this.others.shows(threadId);
    return threadId;
  }

  send(text: string, delivery: "steer" | "queue"): void {
    this.submitOrRestore([text], () => this.sendInput([{ type: "text", text }], delivery));
  }

  /** Sends input as a turn; while a turn runs it steers that, or is queued. */
  sendInput(input: UserInput[], delivery: "steer" | "queue"): Promise<void> {
    return this.inputs.send(input, delivery);
  }

  /** Does what the user wrote. If that is refused, they get it back. */
  submitOrRestore(content: Content, work: () => Promise<unknown>): void {
    this.run(() => this.inputs.orRestore(content, work));
  }

  /** Interrupts the running turn. */
  interrupt(): void {
    this.run(() => this.ownChanges.ask("turn/completed", () => this.#thread.interrupt(), STOPPING_MS));
  }

  /** What stands above a thread: its agent, model, permissions and folder. */
  get header(): LineBlock | undefined {
    const { settings, machine, look } = this;
    if (settings === undefined) return undefined;
    return headerBlock(settings, this.describePermissions(settings), machine, look);
  }

  /** What was being written stays with its thread. */
  async #switchTo(threadId: string | undefined, keepsInput = false): Promise<void> {
    if (!keepsInput) this.help.keepDraft(this.composer);
    await this.#thread.switchTo(threadId);
    this.transcript.leave();
    this.others.shows(threadId);
    if (!keepsInput) this.composer.clear();
    this.help.bringDraft(this.composer);
    // The agent of the thread has commands of its own.
    this.help.completer.refresh();
  }

  /** The thread cannot be used any more: the next prompt starts a new one. */
  #dropThread(): void {
    this.#thread.drop();
    this.transcript.leave();
    this.others.shows(undefined);
    this.help.completer.refresh();
  }

  async #attachAgain(): Promise<void> {
    const missed = await this.#unlessLost(this.#thread.attachAgain(), "Your next prompt starts a new one.");
    if (missed === undefined) {
      this.#dropThread();
      // It was meant for that thread.
      this.inputs.takeLater();
    } else
      this.warn(missed > 0 ? `Connected again. ${missed} missed events are shown now.` : "Connected again.");
  }

  /** Waits for an answer of the server. If that fails, a warning says so and the session goes on; not if the server is lost. */
  async #unlessLost<Answer>(answer: Promise<Answer>, then = ""): Promise<Answer | undefined> {
    try {
      return await answer;
    } catch (thrown) {
      // Expected: the thread was deleted, its log cannot be read, or the answer cannot be understood.
      if (isLost(thrown)) throw thrown;
      this.warn(`${errorMessage(thrown)} ${then}`.trimEnd());
      return undefined;
    }
  }

  #isOwn(event: AgentEvent): boolean {
    if (event.type !== "unknown") return this.#thread.owns(threadIdOf(event));
    const threadId = isRecord(event.params) ? event.params.threadId : undefined;
    return typeof threadId === "string" && this.#thread.owns(threadId);
  }

  #ownEvent(event: AgentEvent): void {
    if (event.type === "item/mcpToolCall/progress")
      this.transcript.progress(event.data.itemId, event.data.message);
    if (event.type === "thread/reverted") this.turns.drop(event.data.turnIds);
    const block = noticeOf(event, this.look);
    if (block !== undefined) this.put(block);
    this.answers.whenResolved(event, (outcome) => {
      const resolved = outcomeNotice(outcome, this.look);
      if (resolved !== undefined) this.put(resolved);
    });
    if (event.type === "unknown") return;
    const isOwn = this.ownChanges.takes(event);
    if (event.type === "thread/deleted") this.#deleted(isOwn ? undefined : event.data.client);
    const change = isOwn ? undefined : changeNotice(event, (settings) => this.describePermissions(settings));
    if (change !== undefined) this.warn(change);
  }

  /** The thread does not exist any more. What is being written is for a new one. */
  #deleted(client: string | undefined): void {
    this.#dropThread();
    this.run(async () => {
      await this.#thread.readDefaults();
      const by = client === undefined ? "" : ` by ${client}`;
      this.warn(`This thread was deleted${by}. Your next prompt starts a new one.`);
      if (this.header !== undefined) this.put(this.header);
    });
  }
}
