import type { ThreadState, Turn } from "@flint/protocol";
import { activityOf, type LiveFacts, type Row, rowsOf } from "@flint/view";
import { hasBlankLines } from "../draw/draw-thread.ts";
import { type Line, type LineBlock, screenRows, span } from "../draw/line.ts";
import { drawRowFor, labelOf, plainModeNotice } from "../draw/plain.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { StreamedMarkdown } from "../draw/streamed-markdown.ts";
import { liveRowLines } from "./live-row.ts";
import { withoutOwnName } from "./sent-inputs.ts";
import { TurnFigures } from "./status/turn-figures.ts";

/** The dependencies of the transcript. */
export interface TranscriptOptions {
  readonly look: () => RenderOptions;
  readonly now: () => number;
  /** A hint at how to see folded content. */
  readonly how?: string | undefined;
}

/** Number of turns of a resumed thread that are printed, and the maximum number of their rows. */
const RESUMED_TURNS = 3;
const RESUMED_ROWS = 200;

/** A block that is to be printed, and the item that it asks about. */
interface Waiting {
  readonly block: LineBlock;
  readonly itemId?: string | undefined;
}

/** The message that is being written, of which some rows are printed. */
interface Streamed {
  readonly key: string;
  readonly text: StreamedMarkdown;
  isPrinted: boolean;
}

/**
 * Splits the rows of a thread into those that are final, which are printed once and scroll into the scrollback, and live
 * ones below them. Whatever order states come in, each row is printed once, in the order of the thread.
 */
export class InlineTranscript {
  readonly #options: TranscriptOptions;
  readonly #figures = new TurnFigures();
  readonly #printed = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #seen = new Set<string>();
  /** Times at which rows were first seen in progress. */
  readonly #since = new Map<string, number>();
  #progress: ReadonlyMap<string, string> = new Map();
  #streamed: Streamed | undefined;
  #waiting: Waiting[] = [];
  /** The approval or question that was asked last. */
  #asked: Waiting | undefined;
  /** The header that is printed next, above everything else. */
  #header: LineBlock | undefined;
  #chapter = 0;
  /** True if the history of a thread comes next, below everything that waits and is about no item of it. */
  #isBeginning = false;
  #last: "nothing" | "line" | "block" = "nothing";

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /**
   * Begins with a thread that has a history: prints its header, what is known about it by now, and the end of it only,
   * also if that was printed before. Gives how many turns it leaves out.
   */
  begin(state: ThreadState, header?: LineBlock): number {
    this.#header = header;
    this.#isBeginning = true;
    const latest = state.turns.slice(-RESUMED_TURNS);
    for (const { id } of latest) this.#ended.delete(id);
    for (const { key, itemId } of rowsOf({ ...state, turns: latest })) {
      this.#printed.delete(key);
      if (itemId !== undefined) this.#seen.delete(itemId);
    }
    return this.#skipEarlier(state);
  }

  /** Forgets what was printed, and begins with the thread again. */
  again(state: ThreadState | undefined, header?: LineBlock): void {
    this.#header = header;
    this.#printed.clear();
    this.#ended.clear();
    this.#streamed = undefined;
    this.#last = "nothing";
    if (state !== undefined) this.#skipEarlier(state);
    const asked = this.#asked;
    const isOpen = state?.approvals.some(({ action }) => action.itemId === asked?.itemId) === true;
    if (asked !== undefined && isOpen && !this.#waiting.includes(asked)) this.#waiting.push(asked);
  }

  /**
   * Another thread is shown from now on: the message that is being written in this one is not continued, and what waits
   * to be asked in it is not asked there.
   */
  leave(): void {
    this.#streamed = undefined;
    this.#waiting = this.#waiting.filter(({ itemId }) => itemId === undefined);
    this.#chapter += 1;
  }

  /** Rises with every thread that is left: what was printed before is not about the one that is shown. */
  get chapter(): number {
    return this.#chapter;
  }

  /**
   * Prints a block below what is final by then, as soon as that does not cut a message in two. A block that shows what is
   * asked about an item comes before that item, but below everything earlier.
   */
  put(block: LineBlock, itemId?: string): void {
    const waiting = { block, itemId };
    this.#waiting.push(waiting);
    if (itemId !== undefined) this.#asked = waiting;
  }

  /** Notes that the user sees an item in full elsewhere, such as in an approval. */
  saw(itemId: string): void {
    this.#seen.add(itemId);
  }

  /** Notes what a call in progress says of itself. */
  progress(itemId: string, message: string): void {
    this.#progress = new Map([...this.#progress, [itemId, message]]);
  }

  /** Rows that became final since the last call, and the live rows below them. */
  take(state: ThreadState | undefined): { final: Line[]; live: Line[] } {
    const final: Line[] = [];
    if (state !== undefined) this.#figures.look(state);
    if (this.#header !== undefined) this.#printWaiting(this.#header, final);
    this.#header = undefined;
    if (this.#isBeginning) this.#flushFor(undefined, final);
    this.#isBeginning = false;
    const open = state === undefined ? [] : this.#advance(state, final);
    if (this.#streamed?.isPrinted !== true) this.#flush(final);
    return { final, live: this.#live(open, state) };
  }

  /** Returns the time for which the running turn has worked, without the time that it waited for the user. */
  workedMs(state: ThreadState): number {
    return this.#figures.workedMs(state, this.#options.now());
  }

  /** Returns the activity of the agent, in a few words. */
  activity(state: ThreadState): string {
    if (state.approvals.length + state.questions.length > 0) return "Waiting for you";
    const turn = state.turns.at(-1);
    const open = turn?.items.findLast(({ id }) => state.openItemIds.includes(id));
    return open === undefined ? "Thinking" : activityOf(open);
  }

  /** Leaves out the beginning of a long thread. Gives how many turns that are. */
  #skipEarlier(state: ThreadState): number {
    const skipped = state.turns.slice(0, -RESUMED_TURNS);
    for (const { id } of skipped) this.#ended.add(id);
    const rows = rowsOf({ ...state, turns: state.turns.slice(-RESUMED_TURNS) });
    for (const { key } of rows.slice(0, -RESUMED_ROWS)) this.#printed.add(key);
    return skipped.length;
  }

  /** Prints everything up to the first row that is not final, and gives the rows from there on. */
  #advance(state: ThreadState, final: Line[]): readonly Row[] {
    const first = state.turns.findLastIndex(({ id }) => this.#ended.has(id)) + 1;
    for (const turn of state.turns.slice(first)) {
      const rows = rowsOf({ turns: [turn], openItemIds: state.openItemIds }, undefined, this.#facts);
      const open = this.#advanceTurn(turn, rows, state.settings.cwd, final);
      if (open.length > 0 || turn.status === "inProgress") return open;
      this.#ended.add(turn.id);
      this.#progress = new Map();
      this.#since.clear();
    }
    return [];
  }

  get #facts(): LiveFacts {
    return { progress: this.#progress };
  }

  #advanceTurn(turn: Turn, rows: readonly Row[], cwd: string, final: Line[]): readonly Row[] {
    const isOver = turn.status !== "inProgress";
    const plans: Row[] = [];
    for (const [at, row] of rows.entries()) {
      if (this.#printed.has(row.key)) continue;
      // A plan changes until the end of its turn, so that is where it is printed.
      if (row.family === "plan" && !isOver) plans.push(row);
      else if (isOver || row.status !== "inProgress") this.#finish(turn, row, cwd, final);
      else {
        if (row.family === "message" && row.depth === 0) this.#stream(row, final);
        return [
          ...rows.slice(at).filter(({ family }) => family !== "plan"),
          ...rows.filter(isPlan).slice(-1),
        ];
      }
    }
    return plans.slice(-1);
  }

  /** Prints the finished blocks of a message that is being written. */
  #stream(row: Row, final: Line[]): void {
    if (this.#streamed?.key !== row.key)
      this.#streamed = { key: row.key, text: new StreamedMarkdown(), isPrinted: false };
    const [block] = row.body;
    this.#streamed.text.add(block?.kind === "markdown" ? block.text : "", 0);
    this.#printStreamed(final);
  }

  #finish(turn: Turn, row: Row, cwd: string, final: Line[]): void {
    this.#printed.add(row.key);
    // The question about it, and the answer, come before it.
    if (this.#isSeen(row)) this.#flushFor(row.itemId, final);
    if (row.family === "message" && row.depth === 0) {
      this.#stream(row, final);
      this.#streamed?.text.end();
      this.#printStreamed(final);
      this.#streamed = undefined;
    } else this.#printRow(this.#figures.added(turn, withoutOwnName(turn, row)), cwd, final);
  }

  #isSeen({ itemId }: Row): boolean {
    return itemId !== undefined && this.#seen.has(itemId);
  }

  #printRow(row: Row | undefined, cwd: string, final: Line[]): void {
    if (row === undefined) return;
    const { look, how } = this.#options;
    const context = { look: look(), elapsedMs: row.durationMs ?? 0, cwd, seen: this.#isSeen(row), how };
    const isApart = hasBlankLines(row.family);
    for (const block of drawRowFor(row, context)) this.#print(block, final, isApart);
  }

  #printStreamed(final: Line[]): void {
    const streamed = this.#streamed;
    if (streamed === undefined) return;
    const look = this.#options.look();
    const isLabelled = look.isPlain === true && !streamed.isPrinted;
    const columns = look.columns - (isLabelled ? AGENT_LABEL.length : 0);
    const [first, ...rest] = streamed.text.takeRows({ ...look, columns });
    if (first === undefined) return;
    if (!streamed.isPrinted) this.#gap("block", final);
    final.push(isLabelled ? [span(AGENT_LABEL), ...first] : first, ...rest);
    streamed.isPrinted = true;
    this.#last = "block";
  }

  /** Prints what waits, up to the first block about another item; without one, about any. */
  #flushFor(itemId: string | undefined, final: Line[]): void {
    const other = this.#waiting.findIndex((each) => each.itemId !== undefined && each.itemId !== itemId);
    this.#flush(final, other === -1 ? undefined : other);
  }

  #flush(final: Line[], count = this.#waiting.length): void {
    for (const { block } of this.#waiting.splice(0, count)) this.#printWaiting(block, final);
  }

  #printWaiting(block: LineBlock, final: Line[]): void {
    this.#print(plainModeNotice(block, this.#options.look()), final, block.indent === undefined);
  }

  #print(block: LineBlock, final: Line[], isApart: boolean): void {
    const rows = screenRows(block, this.#options.look());
    this.#gap(rows.length === 1 && !isApart ? "line" : "block", final);
    final.push(...rows);
  }

  /** Blocks are apart; single lines stand together. */
  #gap(kind: "line" | "block", final: Line[]): void {
    if (this.#last !== "nothing" && !(this.#last === "line" && kind === "line")) final.push([]);
    this.#last = kind;
  }

  #live(open: readonly Row[], state: ThreadState | undefined): Line[] {
    const { look, now } = this.#options;
    const as = look();
    const asked = new Set(state?.approvals.map(({ action }) => action.itemId));
    const lines = open.flatMap((row) => {
      if (this.#streamed?.key === row.key) return this.#streamed.text.openRows(as);
      if (asked.has(row.itemId ?? "")) return [];
      const since = this.#since.get(row.key) ?? now();
      this.#since.set(row.key, since);
      const drawn = liveRowLines(withoutOwnName(state?.turns.at(-1), row), as, now() - since);
      return isPlan(row) && row !== open[0] && drawn.length > 0 ? [[], ...drawn] : drawn;
    });
    const isContinued = this.#streamed?.isPrinted === true;
    return lines.length === 0 || isContinued || this.#last === "nothing" ? lines : [[], ...lines];
  }
}

const AGENT_LABEL = labelOf({ family: "message", status: "completed" });

function isPlan({ family }: Row): boolean {
  return family === "plan";
}
