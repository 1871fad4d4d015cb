import { oneLine } from "@flint/view";
import type { CommandId, KeyContext } from "@flint/view/commands";
import { cutLine, type Line, lineOf, wrapLine } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import type { Page, SessionContext } from "../../session/context.ts";
import { TypedNumber } from "../../session/menu.ts";
import { closeHint, keyName } from "../key-name.ts";
import { Pager } from "../pager.ts";
import { errorText } from "../tasks/task-feed.ts";
import { TaskPage } from "../tasks/task-page.ts";
import { taskResultPage } from "../tasks/task-result.ts";
import { detailOf } from "../tasks/task-rows.ts";
import { type Candidate, Candidates } from "./candidates.ts";
import { compareRows } from "./compare-rows.ts";
import { canBeKept, keepResult } from "./comparison.ts";
import { belowEachOther, sideBySide, type TitledDiff } from "./side-by-side.ts";

/** The progress of the agents of a comparison, live, with keys to look at their changes and to keep one. */
export class ComparePage implements Page {
  readonly #session: SessionContext;
  readonly #candidates: Candidates;
  readonly #number = new TypedNumber();
  /** A task or a diff, shown instead of the rows. */
  #inner: (Page & { readonly isOver?: boolean }) | undefined;
  #selected: string | undefined;
  #message = "";

  /** `ids` are the tasks, in the order of their agents. */
  constructor(session: SessionContext, ids: readonly string[]) {
    this.#session = session;
    this.#selected = ids[0];
    this.#candidates = new Candidates(session, ids, () => this.#inner?.refresh?.());
  }

  get place(): KeyContext {
    return this.#inner?.place ?? "pager";
  }

  draw(look: RenderOptions): ReturnType<Page["draw"]> {
    this.#candidates.look();
    if (this.#inner !== undefined) return this.#inner.draw(look);
    const columns = look.columns - 1;
    const { more } = marksFor(look.unicode);
    const below = this.#below(look);
    const height = Math.max(1, look.rows - 1 - below.length);
    const body = this.#body(look).slice(0, height);
    const filled = [...body, ...Array.from({ length: height - body.length }, (): Line => [])];
    const rows = [lineOf(this.#title, "bold"), ...filled, ...below].slice(0, look.rows);
    return { rows: look.isPlain === true ? rows : rows.map((line) => cutLine(line, columns, more)) };
  }

  command(id: CommandId): boolean | "close" {
    if (this.#inner !== undefined) return this.#innerCommand(this.#inner, id);
    this.#message = "";
    this.#candidates.retry();
    switch (id) {
      case "scrollUp":
      case "scrollDown":
        this.#move(id === "scrollUp" ? -1 : 1);
        return true;
      case "toggleFold":
        this.#openTask(this.#current);
        return true;
      case "taskDiff":
      case "taskApprove":
        this.#openDiff(this.#current, id === "taskApprove");
        return true;
      case "toggleSplit":
        this.#openBoth(this.#current);
        return true;
      case "closePager":
        return "close";
      default:
        return false;
    }
  }

  type(text: string): void {
    this.#inner?.type(text);
    const row = this.#inner === undefined ? this.#number.type(text, this.#all.length) : undefined;
    if (row !== undefined) this.#selected = this.#all[row]?.task.id;
  }

  paste(text: string): void {
    if (this.#inner?.paste !== undefined) this.#inner.paste(text);
    else this.type(text);
  }

  get #all(): readonly Candidate[] {
    return this.#candidates.all ?? [];
  }

  get #at(): number {
    return Math.max(
      0,
      this.#all.findIndex(({ task }) => task.id === this.#selected),
    );
  }

  get #current(): Candidate | undefined {
    return this.#all[this.#at];
  }

  #move(by: 1 | -1): void {
    this.#selected = this.#all[Math.max(0, Math.min(this.#at + by, this.#all.length - 1))]?.task.id;
  }

  #innerCommand(inner: Page & { readonly isOver?: boolean }, id: CommandId): boolean | "close" {
    const done = inner.command(id);
    if (done !== "close" || inner.isOver === true) return done;
    this.#inner = undefined;
    return true;
  }

  #openTask(candidate: Candidate | undefined): void {
    if (candidate === undefined) return;
    let known = candidate.task;
    this.#inner = new TaskPage(this.#session, () => {
      // A task that was removed elsewhere stays as it was last seen.
      known = this.#all.find(({ task }) => task.id === known.id)?.task ?? known;
      return known;
    });
  }

  /** Shows the changes of one agent. If they can be kept, a key there keeps exactly what is shown. */
  #openDiff(candidate: Candidate | undefined, toKeep: boolean): void {
    if (candidate === undefined) return;
    const { task } = candidate;
    const agent = oneLine(task.executor);
    if (toKeep && !canBeKept(task)) {
      this.#message = `${agent} has no result that can be kept.`;
      return;
    }
    this.#do(async () => {
      const result = await this.#session.client.call("task/diff", { taskId: task.id });
      const key = keyName(this.#session, "taskApprove");
      const reviewAction = canBeKept(task)
        ? {
            command: "taskApprove" as const,
            hint: `${key} keep this result and cancel the others`,
            judge: (tree: string | null) => this.#keep(candidate, tree),
          }
        : undefined;
      const title = `Changes of ${agent} (task ${task.number})`;
      this.#inner = taskResultPage({ title, cwd: task.cwd }, result, reviewAction, this.#session.now);
    });
  }

  /** Shows the changes of the selected agent beside those of another one. */
  #openBoth(candidate: Candidate | undefined): void {
    if (candidate === undefined) return;
    const others = this.#all.filter(({ task }) => task.id !== candidate.task.id);
    const [first, ...rest] = [candidate, ...others].map(({ task, result }) => ({
      title: oneLine(task.executor),
      diff: result?.diff ?? "",
    }));
    const key = keyName(this.#session, "toggleSplit");
    if (first === undefined || rest.length === 0) this.#message = "There is nothing to compare it with.";
    else this.#inner = diffsPage(first, rest, key);
  }

  #keep({ task }: Candidate, tree: string | null): void {
    const tasks = this.#all.map((each) => each.task);
    this.#do(async () => {
      const left = await keepResult(this.#session.client, tasks, { id: task.id, tree });
      this.#message = [`Kept the result of ${oneLine(task.executor)}.`, ...left].join(" ");
    });
  }

  /** Runs work and shows its failure here: the session's own messages are behind this page. */
  #do(work: () => Promise<unknown>): void {
    this.#session.run(async () => {
      try {
        await work();
      } catch (thrown) {
        this.#message = errorText(thrown);
      }
    });
  }

  get #title(): string {
    const [first] = this.#all;
    const prompt = first?.task.title.replace(` (${first.task.executor})`, "");
    return prompt === undefined ? "Comparison" : `Comparison: ${oneLine(prompt)}`;
  }

  #body(look: RenderOptions): Line[] {
    const { all, problem } = this.#candidates;
    if (all !== undefined && all.length > 0)
      return compareRows(all, this.#current?.task.id, this.#session.now(), look);
    if (problem !== undefined) return wrapLine(lineOf(oneLine(problem), "yellow"), look.columns - 1);
    return [lineOf(all === undefined ? "Loading" : "Its tasks were removed.", "dim")];
  }

  /** Shows the question or the result of the selected agent, and the keys. */
  #below(look: RenderOptions): Line[] {
    const { between } = marksFor(look.unicode);
    const current = this.#current;
    const columns = look.columns - 1;
    const detail = current === undefined ? "" : (detailOf(current.task) ?? "");
    const isStale = current !== undefined && this.#candidates.problem !== undefined;
    const message = this.#message || (isStale ? (this.#candidates.problem ?? "") : "");
    const key = (id: CommandId, what: string) => `${keyName(this.#session, id)} ${what}`;
    const keys = [
      ...(current === undefined ? [] : [key("toggleFold", "open"), key("taskDiff", "diff")]),
      ...(this.#all.length < 2 ? [] : [key("toggleSplit", "side by side")]),
      ...(current !== undefined && canBeKept(current.task) ? [key("taskApprove", "keep")] : []),
      ...closeHint(look, "closePager"),
    ];
    return [
      ...wrapLine(lineOf(oneLine(detail)), columns, 2).slice(0, 3),
      ...(message === "" ? [] : wrapLine(lineOf(oneLine(message), "yellow"), columns)),
      lineOf(keys.join(between), "dim"),
    ].filter((line, at, lines) => line.length > 0 || at === lines.length - 1);
  }
}

/** Two diffs side by side, or one after the other if there is no room. `key` shows the next one beside the first. */
function diffsPage(first: TitledDiff, others: readonly TitledDiff[], key: string): Pager {
  let at = 0;
  return new Pager({
    title: "Changes side by side",
    hint: others.length < 2 ? undefined : `${key} next agent`,
    lines: (look) => {
      const other = others[at];
      const both = other === undefined ? [first] : [first, other];
      const columns = look.columns - 1;
      // Read aloud, columns would be mixed up.
      const beside = look.isPlain === true || !look.unicode ? undefined : sideBySide(both, columns);
      return beside ?? belowEachOther(both).flatMap((line) => wrapLine(line, columns, 1));
    },
    command: (id) => {
      if (id !== "toggleSplit") return false;
      at = (at + 1) % Math.max(1, others.length);
      return true;
    },
  });
}
