import type { TaskRow } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import type { CommandId, KeyContext } from "@flint/view/commands";
import { cutLine, type Line, lineOf, span, wrapLine } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import type { Page, SessionContext } from "../../session/context.ts";
import { keyName } from "../key-name.ts";
import { Pager } from "../pager.ts";
import { actionsFor, type TaskAction } from "./task-actions.ts";
import { errorText } from "./task-feed.ts";
import { TaskHistory } from "./task-history.ts";
import { taskLines } from "./task-lines.ts";
import { taskLogPage } from "./task-log.ts";
import { TaskReply } from "./task-reply.ts";
import { type ReviewAction, taskResultPage } from "./task-result.ts";

/** Keys that come sooner after an ask has appeared were not meant for it. */
const QUIET_MS = 250;
/** Only so much is searched for. */
const MAX_QUERY = 200;
const LEAST_ROWS = 3;

/** One task on the whole screen: what it is, how it stands, and a key for everything that can be done about it. */
export class TaskPage implements Page {
  readonly #session: SessionContext;
  readonly #row: () => TaskRow;
  readonly #history: TaskHistory;
  readonly #pager: Pager;
  /** The result or the log, shown instead of the task. */
  #inner: Pager | undefined;
  #reply: TaskReply | undefined;
  /** The action that the same key carries out if it is the next one. */
  #toConfirm: TaskAction | undefined;
  #confirmed: TaskAction | undefined;
  /** The question of the task when it was last drawn, and the time since which it was on the screen. */
  #seen = { what: "", at: 0 };
  #message = "";
  #isOver = false;

  /** `row` gives the task as the list has it now. */
  constructor(session: SessionContext, row: () => TaskRow) {
    this.#session = session;
    this.#row = row;
    this.#history = new TaskHistory(row().id);
    const { number, title } = row();
    this.#pager = new Pager({
      title: `#${number} ${escapeControls(title)}`.replaceAll("\n", " "),
      lines: (look) => {
        const home = session.machine.home;
        return taskLines({ task: row(), history: this.#history, now: session.now(), home }, look);
      },
      command: (id) => this.#key(id),
    });
    this.refresh();
  }

  /** While a reply is written, keys edit it as in a menu: Enter sends, Ctrl-C closes. */
  get place(): KeyContext {
    return this.#reply === undefined ? (this.#inner ?? this.#pager).place : "menu";
  }

  /** Reports whether the tasks are left altogether, for the executor's thread. */
  get isOver(): boolean {
    return this.#isOver;
  }

  draw(look: RenderOptions): ReturnType<Page["draw"]> {
    if (this.#inner !== undefined) return this.#inner.draw(look);
    this.#see();
    const reply = this.#reply?.draw(look);
    const message = this.#messageRow(look);
    const below = [...message, ...(reply?.rows ?? this.#keyRows(look))].slice(0, look.rows - LEAST_ROWS);
    const { rows } = this.#pager.draw({ ...look, rows: Math.max(LEAST_ROWS, look.rows - below.length) });
    if (reply === undefined) return { rows: [...rows, ...below] };
    const row = rows.length + message.length + reply.cursor.row;
    return { rows: [...rows, ...below], cursor: { ...reply.cursor, row } };
  }

  command(id: CommandId): boolean | "close" {
    this.#pressed();
    if (this.#reply !== undefined) return this.#replyCommand(this.#reply, id);
    const done = (this.#inner ?? this.#pager).command(id);
    if (this.#isOver) return "close";
    if (done !== "close" || this.#inner === undefined) return done;
    this.#inner = undefined;
    return true;
  }

  type(text: string): void {
    this.#pressed();
    if (this.#reply !== undefined) this.#reply.text.type(text);
    else (this.#inner ?? this.#pager).type(text);
  }

  paste(text: string): void {
    if (this.#reply !== undefined) this.#reply.text.paste(text);
    else this.type(text.slice(0, MAX_QUERY));
  }

  /** Reads what has happened since. */
  refresh(): void {
    this.#do(() => this.#history.read(this.#session.client));
  }

  /** Any key takes back what the one before it began. */
  #pressed(): void {
    this.#confirmed = this.#toConfirm;
    this.#toConfirm = undefined;
    this.#message = "";
  }

  #see(): void {
    const { phase, ask } = this.#row();
    const what = `${phase} ${ask?.id ?? ""}`;
    if (what !== this.#seen.what) this.#seen = { what, at: this.#session.now() };
  }

  #key(id: CommandId): boolean {
    const action = actionsFor(this.#row()).find(({ command }) => command === id);
    if (action === undefined) return false;
    // Nothing is allowed by a key that was pressed before the user could read what is asked.
    if (id === "taskApprove" && this.#session.now() - this.#seen.at < QUIET_MS) return true;
    switch (action.kind) {
      case "open":
        this.#open(action);
        return true;
      case "judge":
        this.#openResult();
        return true;
      case "write":
        this.#reply = new TaskReply(action);
        return true;
      case "do":
        if (action.confirm !== undefined && this.#confirmed?.command !== action.command)
          this.#toConfirm = action;
        else this.#carryOut(action.done, () => action.run(this.#session.client));
        return true;
    }
  }

  #replyCommand(reply: TaskReply, id: CommandId): boolean {
    if (id === "menuCancel") this.#reply = undefined;
    if (id === "menuAccept" && reply.isReady) {
      const { action, words } = reply;
      this.#reply = undefined;
      // The written text is not lost if it is refused.
      const refused = () => {
        this.#reply ??= reply;
      };
      this.#carryOut(action.done, () => action.run(this.#session.client, words), refused);
    }
    return id === "menuCancel" || id === "menuAccept" || reply.text.command(id);
  }

  #open({ command }: TaskAction): void {
    const { number, thread } = this.#row();
    if (command === "taskDiff") this.#openResult();
    if (command === "taskLog") this.#inner = taskLogPage(number, this.#history);
    if (command === "taskThread" && thread !== undefined) {
      this.#isOver = true;
      this.#session.run(() => this.#session.thread.open(thread.threadId));
    }
  }

  /** Shows the result. If it waits for a judgement, the same key judges exactly what is shown. */
  #openResult(): void {
    const task = this.#row();
    const action = actionsFor(task).find((each) => each.kind === "judge");
    this.#do(async () => {
      const result = await this.#session.client.call("task/diff", { taskId: task.id });
      const reviewAction = action === undefined ? undefined : this.#reviewAction(action);
      const title = `Result of task ${task.number}`;
      this.#inner = taskResultPage({ title, cwd: task.cwd }, result, reviewAction, this.#session.now);
    });
  }

  #reviewAction(action: Extract<TaskAction, { kind: "judge" }>): ReviewAction {
    const { command, label, done } = action;
    return {
      command,
      hint: `${this.#keyOf(action)} ${label}`,
      judge: (tree) => this.#carryOut(done, () => action.run(this.#session.client, tree)),
    };
  }

  #carryOut(done: string, work: () => Promise<unknown>, refused?: () => void): void {
    const all = async () => {
      await work();
      this.#message = done;
    };
    this.#do(all, refused);
  }

  /** Runs work and shows its failure here: the session's own messages are behind this page. */
  #do(work: () => Promise<unknown>, failed: () => void = () => undefined): void {
    this.#session.run(async () => {
      try {
        await work();
      } catch (thrown) {
        this.#message = errorText(thrown);
        failed();
      }
    });
  }

  #messageRow(look: RenderOptions): Line[] {
    const confirm = this.#toConfirm;
    const text =
      confirm?.kind === "do" ? `Press ${this.#keyOf(confirm)} again to ${confirm.confirm}.` : this.#message;
    const line = lineOf(escapeControls(text).replaceAll("\n", " "), "yellow");
    return text === "" ? [] : [cutLine(line, look.columns - 1, marksFor(look.unicode).more)];
  }

  /** Shows the available keys. A no-break space keeps a key with its words. */
  #keyRows(look: RenderOptions): Line[] {
    const keys = actionsFor(this.#row()).map((action) => `${this.#keyOf(action)} ${action.label}`);
    const parts = keys.map((each) => each.replaceAll(" ", "\u00a0"));
    return wrapLine([span(parts.join(marksFor(look.unicode).between), "cyan")], look.columns - 1);
  }

  #keyOf({ command }: TaskAction): string {
    return keyName(this.#session, command);
  }
}
