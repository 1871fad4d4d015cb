import type { TaskRow } from "@flint/protocol";
import { count, escapeControls, oneLine } from "@flint/view";
import type { CommandId, KeyContext } from "@flint/view/commands";
import { hasEnded, sortedTasks } from "@flint/view/tasks";
import { cutLine, type Line, lineOf, span, wrapLine } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import type { Page, SessionContext } from "../../session/context.ts";
import { closeHint, hintsIn, keyName } from "../key-name.ts";
import { errorText, TaskFeed } from "./task-feed.ts";
import { TaskPage } from "./task-page.ts";
import { detailOf, isWaiting, taskRows } from "./task-rows.ts";

/** All tasks, those that wait for the user first, as they change. Enter opens one. */
export class TasksPage implements Page {
  readonly #session: SessionContext;
  readonly #feed: TaskFeed;
  /** The task whose page is shown instead of the list. */
  #open: TaskPage | undefined;
  /** The list that the user requested, until it is loaded. */
  #requested: string;
  #selected: string | undefined;
  #withEnded = false;
  #message = "";
  /** True if the same key, pressed next, suspends or resumes all. */
  #isConfirming = false;

  /** `requested` is the number of a task to open, or empty. */
  constructor(session: SessionContext, requested = "") {
    this.#session = session;
    this.#requested = requested.trim();
    this.#feed = new TaskFeed(session, () => this.#changed());
  }

  get place(): KeyContext {
    return this.#open?.place ?? "list";
  }

  draw(look: RenderOptions): ReturnType<Page["draw"]> {
    this.#feed.look();
    if (this.#open !== undefined) return this.#open.draw(look);
    const { more } = marksFor(look.unicode);
    const tasks = this.#shown;
    const below = this.#below(look);
    const height = Math.max(1, look.rows - 1 - below.length);
    const from = Math.max(0, Math.min(this.#at - Math.floor(height / 2), tasks.length - height));
    const selected = tasks[this.#at]?.id;
    const rows = taskRows(tasks.slice(from, from + height), selected, this.#session.now(), look);
    const body = rows.length === 0 ? this.#emptyLines(look) : rows;
    const filled = [...body, ...Array.from({ length: height - body.length }, (): Line => [])];
    const lines: Line[] = [this.#title, ...filled.slice(0, height), ...below];
    return { rows: lines.slice(0, look.rows).map((line) => cutLine(line, look.columns - 1, more)) };
  }

  command(id: CommandId): boolean | "close" {
    if (this.#open !== undefined) return this.#openCommand(this.#open, id);
    this.#message = "";
    const isConfirmed = this.#isConfirming;
    this.#isConfirming = false;
    this.#feed.retry();
    switch (id) {
      case "listUp":
      case "listDown":
        this.#move(id === "listUp" ? -1 : 1);
        return true;
      case "listOpen":
        this.#openTask(this.#shown[this.#at]);
        return true;
      case "listArchived":
        this.#withEnded = !this.#withEnded;
        return true;
      case "listSuspendAll":
        if (isConfirmed) this.#changeAll();
        else if (this.#toAll !== undefined) {
          this.#isConfirming = true;
          this.#message = `Press ${keyName(this.#session, id)} again to ${this.#toAll} all tasks.`;
        }
        return true;
      case "listClose":
        return "close";
      default:
        return false;
    }
  }

  type(text: string): void {
    this.#open?.type(text);
  }

  paste(text: string): void {
    this.#open?.paste(text);
  }

  get #shown(): readonly TaskRow[] {
    return sortedTasks(this.#feed.tasks ?? []).filter((task) => this.#withEnded || !hasEnded(task));
  }

  /** The action on all tasks: they are suspended, or resumed if none of them works or is about to. */
  get #toAll(): "suspend" | "resume" | undefined {
    const phases = new Set((this.#feed.tasks ?? []).map(({ phase }) => phase));
    if (phases.has("running") || phases.has("ready") || phases.has("waiting")) return "suspend";
    return phases.has("suspended") ? "resume" : undefined;
  }

  #changeAll(): void {
    const method = this.#toAll === "resume" ? "task/resumeAll" : "task/suspendAll";
    this.#session.run(async () => {
      // Expected: the server cannot write what was decided.
      try {
        const { data, skipped } = await this.#session.client.call(method, {});
        const rest = skipped.length === 0 ? "" : ` ${skipped.map(({ reason }) => reason).join(" ")}`;
        this.#message = `${count(data.length, "task")} ${method === "task/resumeAll" ? "resumed" : "suspended"}.${rest}`;
      } catch (thrown) {
        this.#message = errorText(thrown);
      }
    });
  }

  get #at(): number {
    return Math.max(
      0,
      this.#shown.findIndex(({ id }) => id === this.#selected),
    );
  }

  #move(by: 1 | -1): void {
    const tasks = this.#shown;
    this.#selected = tasks[Math.max(0, Math.min(this.#at + by, tasks.length - 1))]?.id;
  }

  #openCommand(page: TaskPage, id: CommandId): boolean | "close" {
    const done = page.command(id);
    if (done !== "close" || page.isOver) return done;
    this.#open = undefined;
    return true;
  }

  #openTask(task: TaskRow | undefined): void {
    if (task === undefined) return;
    this.#selected = task.id;
    let known = task;
    this.#open = new TaskPage(this.#session, () => {
      // A task that was removed elsewhere stays as it was last seen.
      known = this.#feed.tasks?.find(({ id }) => id === task.id) ?? known;
      return known;
    });
  }

  #changed(): void {
    const requested = this.#requested;
    this.#requested = "";
    // The selected row stays selected, also if it moves in the list.
    this.#selected ??= this.#shown[0]?.id;
    this.#open?.refresh();
    if (requested === "") return;
    const found = this.#feed.tasks?.find(({ number }) => String(number) === requested.replace(/^#/, ""));
    if (found === undefined) this.#message = `There is no task ${escapeControls(requested)}.`;
    else this.#openTask(found);
  }

  get #title(): Line {
    const waiting = (this.#feed.tasks ?? []).filter(isWaiting).length;
    const need = waiting === 0 ? "" : waiting === 1 ? "  1 needs you" : `  ${waiting} need you`;
    return [span(this.#withEnded ? "All tasks" : "Tasks", "bold"), span(need, "yellow")];
  }

  #emptyLines(look: RenderOptions): Line[] {
    const { tasks, problem } = this.#feed;
    if (problem !== undefined)
      return wrapLine(lineOf(escapeControls(problem).replaceAll("\n", " "), "yellow"), look.columns - 1);
    if (tasks === undefined) return [lineOf("Loading", "dim")];
    return [
      lineOf(tasks.length === 0 ? "No tasks." : "No open tasks.", "dim"),
      lineOf('Add one with /task PROMPT, or in a shell: flint tasks add "what to do"', "dim"),
    ];
  }

  /** Shows the question or the result of the selected task, and the keys. */
  #below(look: RenderOptions): Line[] {
    const { between } = marksFor(look.unicode);
    const tasks = this.#shown;
    const columns = look.columns - 1;
    const selected = tasks[this.#at];
    const detail = (selected === undefined ? undefined : detailOf(selected)) ?? "";
    const isStale = tasks.length > 0 && this.#feed.problem !== undefined;
    const message = this.#message || (isStale ? (this.#feed.problem ?? "") : "");
    const ended = (this.#feed.tasks ?? []).filter(hasEnded).length;
    const hints = [
      ...hintsIn(look, [
        ["listOpen", "open"],
        ...(ended === 0
          ? []
          : [["listArchived", this.#withEnded ? "open tasks only" : `show ${ended} finished`] as const]),
        ...(this.#toAll === undefined ? [] : [["listSuspendAll", `${this.#toAll} all`] as const]),
      ]),
      ...closeHint(look, "listClose"),
    ];
    return [
      ...wrapLine(lineOf(oneLine(detail)), columns, 2).slice(0, 3),
      ...(message === "" ? [] : wrapLine(lineOf(oneLine(message), "yellow"), columns)),
      lineOf(hints.join(between), "dim"),
    ].filter((line, at, all) => line.length > 0 || at === all.length - 1);
  }
}
