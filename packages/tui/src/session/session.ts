import type { Clock } from "@flint/core/ports";
import { errorMessage, type ThreadSettings, type ThreadState } from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import type { Keymap, StatusPart } from "@flint/view/commands";
import type { SessionServer } from "../app/connection.ts";
import { notice } from "../draw/draw-blocks.ts";
import type { LineBlock } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { keyLabel } from "../input/index.ts";
import { closeKeyIn, keyIn } from "../pages/key-name.ts";
import { SentAnswers } from "./answers.ts";
import { AskPanel } from "./ask-panel.ts";
import { loginResult } from "./commands/server/login.ts";
import { Composer } from "./composer.ts";
import type {
  ConnectionState,
  NewThreadSettings,
  Page,
  PermissionChoice,
  SessionContext,
  SessionTerminal,
} from "./context.ts";
import { InlineTranscript } from "./inline-transcript.ts";
import type { Machine } from "./machine.ts";
import { Menu, type MenuOptions } from "./menu.ts";
import { OwnChanges } from "./other-clients/own-changes.ts";
import { PromptHelp } from "./prompt-help.ts";
import { SentInputs } from "./sent-inputs.ts";
import { OtherThreads } from "./status/other-threads.ts";
import { StatusLine } from "./status/status-line.ts";
import type { AllTurns } from "./thread/all-turns.ts";
import { CurrentThread } from "./thread/current-thread.ts";
import { OpenThread } from "./thread/open-thread.ts";
import { ThreadEvents } from "./thread/thread-events.ts";

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
  readonly clock: Clock;
  readonly terminal: SessionTerminal;
  readonly quit: () => void;
  /** Tries to reach the server. */
  readonly connect: () => void;
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
  readonly terminal: SessionTerminal;
  readonly thread: CurrentThread;
  readonly #open: OpenThread;
  readonly #events: ThreadEvents;
  readonly #parts: SessionParts;
  readonly inputs = new SentInputs(this);
  readonly ownChanges = new OwnChanges(() => this.now());
  readonly answers = new SentAnswers(this);
  #page: Page | undefined;
  #client: FlintClient | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.now = parts.now;
    this.terminal = parts.terminal;
    this.#open = new OpenThread(() => this.client, parts.settings);
    this.thread = new CurrentThread(this, this.#open);
    this.#events = new ThreadEvents(this, this.#open);
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
    return this.#open.id;
  }
  get state(): ThreadState | undefined {
    return this.#open.state;
  }

  get turns(): AllTurns {
    return this.#open.turns;
  }

  get settings(): ThreadSettings | undefined {
    return this.#open.settings;
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
    await this.thread.connected();
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
    this.#events.take(event);
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
    this.notice = text === "" ? undefined : escapeControls(text).replaceAll("\n", " ");
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
    // A key that interrupts the turn while one runs does not only close the menu.
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

  openPage(page: Page): void {
    this.page = page;
    this.changed();
  }

  changed(): void {
    this.#parts.changed();
  }

  quit(): void {
    this.help.keepDraft(this.composer);
    this.help.close();
    this.#parts.quit();
  }

  describePermissions(settings: ThreadSettings): string {
    return this.#parts.describePermissions(settings);
  }
}
