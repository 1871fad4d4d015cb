import { isKnownItem, type ThreadItem, type ThreadState, type Turn } from "@flint/protocol";
import { activityOf } from "@flint/view";
import type { Line, LineBlock } from "../draw/line.ts";
import { screenRows } from "../draw/line.ts";
import type { Look } from "../draw/look.ts";
import { StreamedMarkdown } from "../draw/streamed-markdown.ts";
import { itemBlocks } from "./entry-lines.ts";
import { openItemLines } from "./open-item.ts";
import { turnEndBlock } from "./turn-end.ts";

/** What the transcript depends on. */
export interface TranscriptOptions {
  readonly look: () => Look;
  readonly now: () => number;
  /** Who sent a message, if it was not this session. */
  readonly authorOf: (item: ThreadItem) => string | undefined;
}

/** How many turns of a resumed thread are printed. */
const RESUMED_TURNS = 3;

/**
 * Splits a thread into rows that are final, which are printed once and scroll into the scrollback, and live rows below
 * them. Whatever order states come in, each item is printed once, in the order of the thread.
 */
export class InlineTranscript {
  readonly #options: TranscriptOptions;
  readonly #printed = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #seen = new Set<string>();
  /** The message that is being written, of which some rows are printed. */
  #streamed: { readonly itemId: string; readonly text: StreamedMarkdown; isPrinted: boolean } | undefined;
  #waiting: LineBlock[] = [];
  #last: "nothing" | "line" | "block" = "nothing";

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Begins with a thread that has a history: prints its last turns only. Gives how many turns it leaves out. */
  begin(state: ThreadState): number {
    const skipped = state.turns.slice(0, -RESUMED_TURNS);
    for (const turn of skipped) this.#skip(turn);
    return skipped.length;
  }

  /** Forgets what was printed: the next call gives the whole thread again. */
  again(): void {
    this.#printed.clear();
    this.#ended.clear();
    this.#streamed = undefined;
    this.#last = "nothing";
  }

  /** Prints a block as soon as that does not cut a message in two. */
  put(block: LineBlock): void {
    this.#waiting.push(block);
  }

  /** Notes that the user sees an item in full elsewhere, such as in an approval. */
  saw(itemId: string): void {
    this.#seen.add(itemId);
  }

  /** Rows that became final since the last call, and the live rows below them. */
  take(state: ThreadState | undefined): { final: Line[]; live: Line[] } {
    const final: Line[] = [];
    const open = state === undefined ? [] : this.#advance(state, final);
    if (this.#streamed?.isPrinted !== true) this.#flush(final);
    return { final, live: this.#live(open, state) };
  }

  /** What the agent is doing, in a few words. */
  activity(state: ThreadState): string {
    if (state.approvals.length + state.questions.length > 0) return "Waiting for you";
    const turn = state.turns.at(-1);
    const open = turn?.items.findLast(({ id }) => state.openItemIds.includes(id));
    return open === undefined ? "Thinking" : activityOf(open);
  }

  #skip(turn: Turn): void {
    for (const { id } of turn.items) this.#printed.add(id);
    this.#ended.add(turn.id);
  }

  /** Prints everything up to the first item that is not final, and gives the items from there on. */
  #advance(state: ThreadState, final: Line[]): ThreadItem[] {
    for (const turn of state.turns) {
      if (this.#ended.has(turn.id)) continue;
      const open = this.#advanceTurn(state, turn, final);
      if (open.length > 0 || turn.status === "inProgress") return open;
      this.#endTurn(turn, state.settings.cwd, final);
    }
    return [];
  }

  /** A plan changes until the end of its turn, so that is where it is printed. */
  #endTurn(turn: Turn, cwd: string, final: Line[]): void {
    this.#ended.add(turn.id);
    for (const item of turn.items) if (item.type === "plan") this.#finish(item, cwd, final);
    const end = turnEndBlock(turn, this.#options.look());
    if (end !== undefined) this.#print(end, final);
  }

  #advanceTurn(state: ThreadState, turn: Turn, final: Line[]): ThreadItem[] {
    const { items } = turn;
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at];
      if (item === undefined || this.#printed.has(item.id) || item.type === "plan") continue;
      const isOpen = turn.status === "inProgress" && state.openItemIds.includes(item.id);
      if (isOpen) {
        this.#stream(item, final);
        return items.slice(at);
      }
      this.#finish(item, state.settings.cwd, final);
    }
    return [];
  }

  /** Prints the finished blocks of a message that is being written. */
  #stream(item: ThreadItem, final: Line[]): void {
    if (!isKnownItem(item) || item.type !== "agentMessage") return;
    if (this.#streamed?.itemId !== item.id)
      this.#streamed = { itemId: item.id, text: new StreamedMarkdown(), isPrinted: false };
    this.#streamed.text.add(item.text, 0);
    this.#printStreamed(final);
  }

  #finish(item: ThreadItem, cwd: string, final: Line[]): void {
    this.#printed.add(item.id);
    if (isKnownItem(item) && item.type === "agentMessage") {
      this.#stream(item, final);
      this.#streamed?.text.end();
      this.#printStreamed(final);
      this.#streamed = undefined;
    } else {
      const look = this.#options.look();
      const from = this.#options.authorOf(item);
      const context = { look, cwd, seen: this.#seen.has(item.id), from };
      for (const block of itemBlocks(item, context)) this.#print(block, final);
    }
    this.#flush(final);
  }

  #printStreamed(final: Line[]): void {
    const streamed = this.#streamed;
    const rows = streamed?.text.takeRows(this.#options.look()) ?? [];
    if (streamed === undefined || rows.length === 0) return;
    if (!streamed.isPrinted) this.#gap("block", final);
    streamed.isPrinted = true;
    final.push(...rows);
    this.#last = "block";
  }

  #flush(final: Line[]): void {
    for (const block of this.#waiting.splice(0)) this.#print(block, final);
  }

  #print(block: LineBlock, final: Line[]): void {
    const rows = screenRows(block, this.#options.look());
    this.#gap(rows.length === 1 && block.indent !== undefined ? "line" : "block", final);
    final.push(...rows);
  }

  /** Blocks are apart; single lines stand together. */
  #gap(kind: "line" | "block", final: Line[]): void {
    if (this.#last !== "nothing" && !(this.#last === "line" && kind === "line")) final.push([]);
    this.#last = kind;
  }

  #live(open: readonly ThreadItem[], state: ThreadState | undefined): Line[] {
    const look = this.#options.look();
    const turn = state?.turns.findLast(({ id }) => id === state.activeTurnId);
    const plan = turn?.items.findLast((item) => item.type === "plan");
    const shown = [...open.filter((item) => item.type !== "plan"), ...(plan === undefined ? [] : [plan])];
    const rows = shown.flatMap((item) => {
      const isAsked = state?.approvals.some(({ action }) => action.itemId === item.id) === true;
      if (this.#streamed?.itemId === item.id) return this.#streamed.text.openRows(look);
      return isAsked ? [] : openItemLines(item, look);
    });
    const isContinued = this.#streamed?.isPrinted === true;
    return rows.length === 0 || isContinued || this.#last === "nothing" ? rows : [[], ...rows];
  }
}
