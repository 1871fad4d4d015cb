import {
  addUsage,
  type Cost,
  isKnownItem,
  NO_USAGE,
  type ThreadItem,
  type TurnStatus,
  totalTokens,
} from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { count, duration, escapeControls, money, rowOf, tokens } from "@flint/view";
import { cutLine, type Line, type LineBlock, type Style, span, textOf, textWidth } from "./line.ts";
import { marksFor, type RenderOptions } from "./render-options.ts";

/** Counts what a turn has used and changed so far. */
export class TurnTally {
  readonly #files = new Set<string>();
  #failedCalls = 0;
  /** The cost of the thread before this turn, which is subtracted. */
  costBefore: Cost | undefined;
  #usage = NO_USAGE;
  #cost: Cost | undefined;

  /** All tokens of the turn. */
  get tokens(): number {
    return totalTokens(this.#usage);
  }

  /** The cost of the turn, if the agent reports it. */
  get cost(): Cost | undefined {
    if (this.#cost === undefined) return undefined;
    const before = this.costBefore?.currency === this.#cost.currency ? this.costBefore.amount : 0;
    return { ...this.#cost, amount: Math.max(0, this.#cost.amount - before) };
  }

  /** The number of files that were changed. */
  get files(): number {
    return this.#files.size;
  }

  /** Number of tool calls and changes of files that failed. */
  get failedCalls(): number {
    return this.#failedCalls;
  }

  /** Counts an event. */
  count(event: AgentEvent): void {
    if (event.type === "thread/tokenUsage/updated") {
      this.#usage = addUsage(this.#usage, event.data.last);
      this.#cost = event.data.cost ?? this.#cost;
    }
    if (event.type !== "item/completed") return;
    const { item } = event.data;
    this.#countFiles(item);
    const { family, status } = rowOf(item);
    if (status === "failed" && (family === "tool" || family === "change")) this.#failedCalls += 1;
  }

  #countFiles(item: ThreadItem): void {
    if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") return;
    for (const { path } of item.changes) this.#files.add(path);
  }
}

/** The content of the status line. */
export interface Status {
  readonly activity: string;
  /** Figures, the most important first; those that do not fit are dropped from the end. */
  readonly figures: readonly string[];
  readonly hint: string;
  /** Selects the frame of the spinner. */
  readonly tick: number;
}

/** The status line, never wider than the terminal. */
export function statusLine({ activity, figures, hint, tick }: Status, look: RenderOptions): Line {
  const marks = marksFor(look.unicode);
  const spinner = marks.spinner[tick % marks.spinner.length] ?? "";
  // The last column stays free: some terminals wrap the line there.
  const room = look.columns - 1;
  const head: Line = [span(spinner, "cyan"), span(` ${activity}`)];
  let width = textWidth(textOf(head));
  const shown: string[] = [];
  for (const part of [...figures, hint]) {
    width += textWidth(marks.between + part);
    if (width > room) break;
    shown.push(part);
  }
  const rest = shown.map((part) => marks.between + part).join("");
  return cutLine([...head, span(rest, "dim")], room, marks.more);
}

/** The outcome and usage of a turn. */
export interface TurnEnd {
  readonly status: TurnStatus;
  readonly error?: string | undefined;
  readonly elapsedMs: number;
  readonly tokens: number;
  readonly cost?: Cost | undefined;
  readonly files: number;
  /** Number of tool calls that failed. */
  readonly failedCalls?: number;
  /** The command that resumes the thread, if it is stored. */
  readonly resumeWith?: string | undefined;
}

const WORDS: Readonly<
  Record<TurnStatus, { mark: "done" | "failed" | "declined"; style: Style; text: string }>
> = {
  completed: { mark: "done", style: "green", text: "Done" },
  interrupted: { mark: "declined", style: "yellow", text: "Interrupted" },
  failed: { mark: "failed", style: "red", text: "Failed" },
  inProgress: { mark: "failed", style: "red", text: "Not finished" },
};

/** The last lines of a turn: how it ended, what it used, and how to continue. */
export function summaryBlock(end: TurnEnd, look: RenderOptions): LineBlock {
  const marks = marksFor(look.unicode);
  const { mark, style, text } = WORDS[end.status];
  const figures = figuresOf(end).join(marks.between);
  const first: Line = [span(marks[mark], style), span(` ${text}`, "bold"), span(` ${figures}`, "dim")];
  const why: Line[] =
    end.error === undefined ? [] : [[span(`  ${escapeControls(end.error).replaceAll("\n", " ")}`, style)]];
  const resumeWith: Line[] =
    end.resumeWith === undefined ? [] : [[span(`  Continue: ${end.resumeWith}`, "dim")]];
  return { head: [first, ...why, ...resumeWith], indent: 2 };
}

function figuresOf({ elapsedMs, tokens: used, cost, files, failedCalls = 0 }: TurnEnd): string[] {
  return [
    `in ${duration(elapsedMs)}`,
    ...(used === 0 ? [] : [tokens(used)]),
    ...(cost === undefined ? [] : [money(cost)]),
    ...(files === 0 ? [] : [`${count(files, "file")} changed`]),
    ...(failedCalls === 0 ? [] : [`${count(failedCalls, "tool call")} failed`]),
  ];
}
