import { errorMessage, type Thread } from "@flint/protocol";
import { searchThreads } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import type { CommandId, KeyContext } from "@flint/view/commands";
import { cutLine, type Line, span, wrapLine } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import { exportThread, nameThread } from "../../session/commands/thread-commands.ts";
import type { Page, SessionContext } from "../../session/context.ts";
import { TypedNumber } from "../../session/menu.ts";
import { InlineInput } from "../inline-input.ts";
import { closeHint, hintsIn, keyName } from "../key-name.ts";
import { Pins } from "./pins.ts";
import { amountsOf, countsOf, threadRows } from "./thread-rows.ts";

/** The number of threads that are read at once; further ones are read once the user gets to the end of those. */
const LIMIT = 200;

/** Returns hints on the keys of the list. A no-break space keeps a key with its word. */
function hintWords(look: RenderOptions): string[] {
  const hints = hintsIn(look, [
    ["listOpen", "open"],
    ["listSearch", "search"],
    ["listRename", "rename"],
    ["listPin", "pin"],
    ["listArchive", "archive"],
    ["listArchived", "archived"],
    ["listOfTasks", "tasks"],
    ["listDelete", "delete"],
    ["listFork", "fork"],
    ["listExport", "export"],
    ["listNew", "new"],
  ]);
  return [...hints, ...closeHint(look, "listClose")].map((hint) => hint.replaceAll(" ", "\u00a0"));
}

/** The purpose for which text is typed in the list. */
type Typing = { readonly what: "search" | "rename"; readonly field: InlineInput };

/** All threads with their status, to open, search, rename, pin, archive, delete, fork and export. */
export class ThreadList implements Page {
  readonly #session: SessionContext;
  readonly #pins: Pins;
  readonly #now: () => number;
  #threads: readonly Thread[] = [];
  readonly #number = new TypedNumber();
  #at = 0;
  #height = 1;
  /** The number of threads to read, and whether there are more. */
  #count = LIMIT;
  #hasMore = false;
  #search = new AbortController();
  #archived = false;
  #ofTasks = false;
  #isLoaded = false;
  #query = "";
  #typing: Typing | undefined;
  #toDelete: string | undefined;
  #message = "";

  constructor(session: SessionContext) {
    this.#session = session;
    this.#now = session.now;
    this.#pins = new Pins(session.machine);
    this.#load();
  }

  get place(): KeyContext {
    return this.#typing === undefined ? "list" : "menu";
  }

  draw(look: RenderOptions): ReturnType<Page["draw"]> {
    const { more, between } = marksFor(look.unicode);
    const hint = wrapLine([span(hintWords(look).join(between), "dim")], look.columns - 1);
    const field = this.#typing?.field.draw(look);
    const status = field?.row ?? this.#status();
    const below = status === undefined ? [...this.#amounts(between), ...hint] : [status];
    const height = Math.max(1, look.rows - 1 - below.length);
    this.#height = height;
    const from = Math.max(0, Math.min(this.#at - Math.floor(height / 2), this.#threads.length - height));
    const shown = this.#threads.slice(from, from + height);
    const rows = threadRows(
      shown.map((thread, index) => ({
        thread,
        number: from + index + 1,
        isSelected: from + index === this.#at,
        isPinned: this.#pins.has(thread.id),
      })),
      { look, now: this.#now(), home: this.#session.machine.home },
    );
    if (rows.length === 0 && this.#isLoaded) rows.push([span("  There are none.", "dim")]);
    const filled = [...rows, ...Array.from({ length: height - rows.length }, (): Line => [])];
    const title = `${this.#archived ? "Archived threads" : "Threads"}${this.#ofTasks ? " of tasks" : ""}`;
    const search = this.#query === "" ? "" : `  matching "${escapeControls(this.#query)}"`;
    const counts = countsOf(this.#threads, this.#now()).join(between);
    const lines: Line[] = [
      [span(title, "bold"), span(search, "cyan"), span(counts === "" ? "" : `  ${counts}`, "dim")],
      ...filled,
      ...below,
    ];
    const all = lines.map((line) => cutLine(line, look.columns - 1, more));
    if (field === undefined) return { rows: all };
    return { rows: all, cursor: { row: all.length - 1, column: field.column } };
  }

  command(id: CommandId): boolean | "close" {
    if (this.#typing !== undefined) return this.#typingCommand(this.#typing, id);
    const thread = this.#threads[this.#at];
    if (id !== "listDelete") this.#toDelete = undefined;
    this.#message = "";
    switch (id) {
      case "listUp":
        this.#at = Math.max(0, this.#at - 1);
        return true;
      case "listDown":
        this.#down(1);
        return true;
      case "listPageUp":
        this.#at = Math.max(0, this.#at - this.#height);
        return true;
      case "listPageDown":
        this.#down(this.#height);
        return true;
      case "listOpen":
        if (thread !== undefined) this.#session.run(() => this.#session.thread.open(thread.id));
        return thread === undefined ? true : "close";
      case "listNew":
        this.#session.run(() => this.#session.thread.startNew());
        return "close";
      case "listSearch":
        this.#typing = { what: "search", field: new InlineInput("Search:") };
        return true;
      case "listRename":
        if (thread !== undefined)
          this.#typing = { what: "rename", field: new InlineInput("New name:", thread.name ?? "") };
        return true;
      case "listArchived":
        this.#archived = !this.#archived;
        this.#load();
        return true;
      case "listOfTasks":
        this.#ofTasks = !this.#ofTasks;
        this.#load();
        return true;
      case "listClose":
        return "close";
      default:
        return thread !== undefined && this.#change(id, thread);
    }
  }

  /** A number selects a row. */
  type(text: string): void {
    if (this.#typing !== undefined) this.#typing.field.type(text);
    else this.#at = this.#number.type(text, this.#threads.length) ?? this.#at;
  }

  /** Loads the list again, unless it is filtered: texts are not searched again with every change. */
  refresh(): void {
    if (this.#query === "") this.#load();
    else this.#session.run(() => this.#refreshFound());
  }

  close(): void {
    this.#search.abort();
  }

  #change(id: CommandId, thread: Thread): boolean {
    const { client, ownChanges } = this.#session;
    const threadId = thread.id;
    switch (id) {
      case "listPin":
        this.#pins.toggle(threadId);
        this.#sort();
        return true;
      case "listArchive":
        this.#do(() => this.#archive(threadId));
        return true;
      case "listFork":
        this.#do(() => client.call("thread/fork", { threadId }));
        return true;
      case "listExport":
        this.#do(async () => {
          this.#message = `Exported to ${await exportThread(this.#session, threadId, "")}`;
        });
        return true;
      case "listDelete":
        if (this.#toDelete === threadId)
          this.#do(() => ownChanges.ask("thread/deleted", () => client.call("thread/delete", { threadId })));
        this.#toDelete = this.#toDelete === threadId ? undefined : threadId;
        return true;
      default:
        return false;
    }
  }

  /** Archives a thread, or brings it back. */
  #archive(threadId: string): Promise<unknown> {
    const { client, ownChanges } = this.#session;
    return this.#archived
      ? ownChanges.ask("thread/unarchived", () => client.call("thread/unarchive", { threadId }))
      : ownChanges.ask("thread/archived", () => client.call("thread/archive", { threadId }));
  }

  #typingCommand(typing: Typing, id: CommandId): boolean {
    const done = typing.field.command(id);
    if (done === "accept" || done === "cancel") this.#typing = undefined;
    if (done === "accept") this.#typed(typing.what, typing.field.text.trim());
    return done !== false;
  }

  #typed(what: Typing["what"], text: string): void {
    if (what === "search") {
      this.#query = text;
      this.#threads = [];
      this.#load();
      return;
    }
    const threadId = this.#threads[this.#at]?.id;
    if (threadId !== undefined && text !== "") this.#do(() => nameThread(this.#session, threadId, text));
  }

  #do(work: () => Promise<unknown>): void {
    this.#session.run(async () => {
      // A failure is shown here: the session's own messages are behind this page.
      await work().catch((thrown: unknown) => {
        this.#message = errorMessage(thrown);
      });
      this.#load();
    });
  }

  #load(): void {
    this.#search.abort();
    this.#search = new AbortController();
    const { signal } = this.#search;
    this.#session.run(() => (this.#query === "" ? this.#loadAll(signal) : this.#loadFound(signal)));
  }

  #down(by: number): void {
    const last = this.#threads.length - 1;
    this.#at = Math.max(0, Math.min(last, this.#at + by));
    if (this.#at < last || !this.#hasMore || this.#query !== "") return;
    this.#count = this.#threads.length + LIMIT;
    this.#load();
  }

  /** Threads of tasks are in a list of their own: they belong to no one's conversation. */
  #which() {
    return { archived: this.#archived, ofTasks: this.#ofTasks };
  }

  #params() {
    return { ...this.#which(), limit: LIMIT, sortKey: "updatedAt" } as const;
  }

  async #loadAll(signal: AbortSignal): Promise<void> {
    const params = this.#params();
    let page = await this.#session.client.listThreads(params);
    const threads = [...page.data];
    while (page.nextCursor !== undefined && threads.length < this.#count) {
      page = await this.#session.client.listThreads({ ...params, cursor: page.nextCursor });
      threads.push(...page.data);
    }
    if (signal.aborted) return;
    this.#hasMore = page.nextCursor !== undefined;
    this.#show(threads);
  }

  /** Shows what was found as it is found. */
  async #loadFound(signal: AbortSignal): Promise<void> {
    const found: Thread[] = [];
    const options = { ...this.#which(), signal };
    for await (const thread of searchThreads(this.#session.client, this.#query, options)) {
      if (signal.aborted) return;
      found.push(thread);
      this.#show(found);
    }
    if (!signal.aborted) this.#show(found);
  }

  async #refreshFound(): Promise<void> {
    const params = this.#params();
    const { data } = await this.#session.client.listThreads(params);
    const now = new Map(data.map((thread) => [thread.id, thread]));
    this.#show(this.#threads.map((thread) => now.get(thread.id) ?? thread));
  }

  /** The selected thread stays selected if it is still there. */
  #show(threads: readonly Thread[]): void {
    const selected = this.#threads[this.#at]?.id;
    this.#threads = threads;
    this.#isLoaded = true;
    this.#sort();
    const at = this.#threads.findIndex(({ id }) => id === selected);
    if (at !== -1) this.#at = at;
  }

  #sort(): void {
    const pinned = (thread: Thread) => (this.#pins.has(thread.id) ? 0 : 1);
    this.#threads = [...this.#threads].sort((one, other) => pinned(one) - pinned(other));
    this.#at = Math.max(0, Math.min(this.#at, this.#threads.length - 1));
    this.#session.changed();
  }

  /** Shows the amounts that the selected thread has used of its limits, where a row has no room for them. */
  #amounts(between: string): Line[] {
    const thread = this.#threads[this.#at];
    const amounts = thread === undefined ? [] : amountsOf(thread, this.#now());
    return amounts.length === 0 ? [] : [[span(amounts.join(between), "cyan")]];
  }

  #status(): Line | undefined {
    if (this.#toDelete !== undefined)
      return [
        span(
          `Press ${keyName(this.#session, "listDelete")} again to delete this thread and its log for good.`,
          "yellow",
        ),
      ];
    return this.#message === "" ? undefined : [span(escapeControls(this.#message), "yellow")];
  }
}
