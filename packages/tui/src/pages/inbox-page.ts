import type { AgentEvent } from "@flint/sdk";
import { type Ask, ageOf, escapeControls, oneLine } from "@flint/view";
import type { CommandId, KeyContext } from "@flint/view/commands";
import { drawApproval } from "../draw/draw-row.ts";
import { cutLine, type Line, lineOf, screenRows, span, wrapLine } from "../draw/line.ts";
import { labelled } from "../draw/plain.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { AskPanel } from "../session/ask-panel.ts";
import type { Page, SessionContext } from "../session/context.ts";
import { TypedNumber } from "../session/menu.ts";
import { approvalPage } from "./approval-page.ts";
import { closeHint, hintsIn } from "./key-name.ts";
import type { Pager } from "./pager.ts";
import { WaitingThreads } from "./waiting-threads.ts";

/** The list takes a quarter of the screen, what is selected the rest. */
const LIST_SHARE = 4;
const LEAST_ROWS = 3;

/**
 * Everything that waits for the user, in all threads of all agents. The selected approval or question is shown whole and
 * answered in place; Enter opens its thread. What is selected stays selected when others come and go.
 */
export class InboxPage implements Page {
  readonly #session: SessionContext;
  readonly #waiting: WaitingThreads;
  readonly #panel: AskPanel;
  readonly #number = new TypedNumber();
  #selected: Ask | undefined;
  /** Position of the selected ask in the list, to select the one that takes its place. */
  #at = 0;
  #top = 0;
  #height = 1;
  #hasShownEnd = false;
  #isAnswering = false;
  #whole: Pager | undefined;
  #message = "";
  #opened: string | undefined;

  constructor(session: SessionContext) {
    this.#session = session;
    this.#waiting = new WaitingThreads(session);
    this.#panel = new AskPanel(session.answers);
    this.refresh();
  }

  /** While an answer is written, keys edit it as in a menu. */
  get place(): KeyContext {
    if (this.#whole !== undefined) return this.#whole.place;
    return this.#isAnswering ? "menu" : "list";
  }

  refresh(): void {
    this.#waiting.refresh(() => this.#select(this.#asks.find(({ id }) => id === this.#selected?.id)));
  }

  close(): void {
    this.#waiting.close(this.#opened);
  }

  /** Handles an event. An ask that another client answers does not simply vanish before the user's eyes. */
  event(event: AgentEvent): void {
    const asks = this.#asks;
    this.#session.answers.whenResolved(event, ({ askId, text, elsewhere }) => {
      const ask = asks.find(({ id }) => id === askId);
      if (ask === undefined || elsewhere === undefined) return;
      this.#message = oneLine(`${ask.thread}: ${text} in ${elsewhere}`);
      this.#session.changed();
    });
  }

  draw(look: RenderOptions): ReturnType<Page["draw"]> {
    if (this.#whole !== undefined) return this.#whole.draw(look);
    const { more } = marksFor(look.unicode);
    const above = [[span("Waiting for you", "bold")], ...this.#listRows(look), []];
    const { rows, cursor } = this.#detail(look);
    const hint = this.#hintRows(look, rows.length > look.rows - above.length - 1);
    this.#height = Math.max(1, look.rows - above.length - hint.length);
    const lastTop = Math.max(0, rows.length - this.#height);
    this.#top = this.#isAnswering ? lastTop : Math.min(this.#top, lastTop);
    this.#hasShownEnd ||= this.#top === lastTop && !this.#isAnswering;
    const shown = rows.slice(this.#top, this.#top + this.#height);
    const filled = Array.from({ length: this.#height - shown.length }, (): Line => []);
    const all = [...above, ...shown, ...filled, ...hint].map((line) => cutLine(line, look.columns - 1, more));
    if (cursor === undefined || !this.#isAnswering) return { rows: all };
    return { rows: all, cursor: { ...cursor, row: cursor.row + above.length - this.#top } };
  }

  command(id: CommandId): boolean | "close" {
    this.#message = "";
    if (this.#whole !== undefined) return this.#wholeCommand(this.#whole, id);
    if (this.#isAnswering) return this.#answerCommand(id);
    switch (id) {
      case "listUp":
      case "listDown":
        this.#select(this.#asks[this.#at + (id === "listUp" ? -1 : 1)] ?? this.#selected);
        return true;
      case "listPageUp":
      case "listPageDown":
        this.#top = Math.max(0, this.#top + (id === "listPageUp" ? -this.#height : this.#height));
        return true;
      case "listOpen":
        return this.#openThread();
      case "listClose":
        return "close";
      case "listRename":
        this.#isAnswering = this.#selected?.kind === "question" && this.#isQuiet;
        return true;
      default:
        // The letters of lists are keys of answers here.
        return this.#press(this.#session.keymap.keys[id]);
    }
  }

  scroll(by: 1 | -1): void {
    if (this.#whole !== undefined) this.#whole.scroll(by);
    else this.#top = Math.max(0, this.#top + by);
  }

  type(text: string): void {
    if (this.#whole !== undefined) this.#whole.type(text);
    else if (this.#isAnswering) this.#panel.type(text);
    else if (!this.#press([text]))
      this.#select(this.#asks[this.#number.type(text, this.#asks.length) ?? this.#at]);
  }

  paste(text: string): void {
    if (this.#isAnswering) this.#panel.paste(text);
  }

  get #asks(): readonly Ask[] {
    return this.#waiting.asks ?? [];
  }

  /** Reports whether the selected ask has been there long enough for a key to be meant for it. */
  get #isQuiet(): boolean {
    return this.#panel.takes(this.#session.now(), Number.NEGATIVE_INFINITY);
  }

  /** Selects an ask; without one, that which is now in its place. */
  #select(requested: Ask | undefined): void {
    const ask = requested ?? this.#asks[Math.min(this.#at, this.#asks.length - 1)];
    this.#at = Math.max(0, ask === undefined ? 0 : this.#asks.indexOf(ask));
    if (ask?.id !== this.#selected?.id) {
      this.#top = 0;
      this.#hasShownEnd = false;
      this.#isAnswering = false;
      this.#whole = undefined;
    }
    this.#selected = ask;
    this.#panel.show(ask, this.#session.now());
    this.#session.changed();
  }

  #openThread(): true | "close" {
    const threadId = this.#selected?.threadId;
    if (threadId === undefined) return true;
    this.#opened = threadId;
    this.#session.run(() => this.#session.thread.open(threadId));
    return "close";
  }

  get #firstRead(): string {
    const more = hintsIn(this.#session.look, [["listPageDown", "shows more"]]).map((hint) => `: ${hint}`);
    return `Read it to its end before you allow it${more.join("")}.`;
  }

  /** A key of an answer. Gives whether it was one. */
  #press(keys: readonly string[]): boolean {
    const ask = this.#selected;
    if (ask?.kind !== "approval") return false;
    const { askView, askDeclineWithMessage } = this.#session.keymap.keys;
    const choice = ask.prompt.choices.find(({ key }) => keys.includes(key));
    const isFor = (chords: readonly string[]) => chords.some((chord) => keys.includes(chord));
    if (isFor(askView)) this.#whole = approvalPage(ask.approval, ask.cwd);
    else if (!this.#isQuiet) return choice !== undefined || isFor(askDeclineWithMessage);
    else if (isFor(askDeclineWithMessage)) this.#isAnswering = this.#panel.command("askDeclineWithMessage");
    else if (choice?.decision.outcome === "allow" && !this.#hasShownEnd) this.#message = this.#firstRead;
    else if (choice !== undefined) this.#panel.type(choice.key);
    else return false;
    return true;
  }

  #answerCommand(id: CommandId): boolean {
    if (id === "menuCancel") {
      this.#panel.closeMessage();
      this.#isAnswering = false;
      return true;
    }
    return this.#panel.command(EDITING[id] ?? id);
  }

  #wholeCommand(whole: Pager, id: CommandId): boolean {
    const done = whole.command(id);
    if (done === "close") this.#whole = undefined;
    return done !== false;
  }

  #listRows(look: RenderOptions): Line[] {
    const most = Math.max(LEAST_ROWS, Math.floor(look.rows / LIST_SHARE));
    const from = Math.max(0, Math.min(this.#at - Math.floor(most / 2), this.#asks.length - most));
    return this.#asks.slice(from, from + most).map((ask, index) => this.#row(ask, from + index, look));
  }

  #row(ask: Ask, index: number, look: RenderOptions): Line {
    const isSelected = ask.id === this.#selected?.id;
    const number = look.isPlain === true ? `${index + 1}. ` : "";
    return [
      span(isSelected ? `${marksFor(look.unicode).current} ` : "  ", "cyan"),
      span(`${number}${nameOf(ask).padEnd(9)} `, "yellow"),
      span(`${escapeControls(ask.agent).padEnd(9)} `, "cyan"),
      span(escapeControls(ask.thread).replaceAll("\n", " "), isSelected ? "bold" : undefined),
      span(`  ${ageOf(ask.requestedAtMs, this.#session.now())}`, "dim"),
    ];
  }

  /** The selected ask in full, and how it is answered. */
  #detail(look: RenderOptions): ReturnType<AskPanel["draw"]> {
    const ask = this.#selected;
    if (ask === undefined)
      return {
        rows: [
          lineOf(this.#waiting.asks === undefined ? "Loading" : "No open approvals or questions.", "dim"),
        ],
      };
    const inner = { ...look, columns: look.columns - 1 };
    const panel = this.#panel.draw(look);
    if (ask.kind === "question") return panel;
    const subject = screenRows(labelled(drawApproval(ask.prompt, inner, ask.cwd), "Approval: ", look), inner);
    const rows = [...subject, [], ...panel.rows];
    const { cursor } = panel;
    return cursor === undefined
      ? { rows }
      : { rows, cursor: { ...cursor, row: cursor.row + subject.length + 1 } };
  }

  #hintRows(look: RenderOptions, isLonger: boolean): Line[] {
    if (this.#message !== "") return wrapLine(lineOf(this.#message, "yellow"), look.columns - 1);
    const question = hintsIn(look, [["listRename", "answer"]]);
    const answer = this.#selected?.kind === "question" ? question : ["the keys above answer"];
    const more = isLonger ? hintsIn(look, [["listPageDown", "shows more"]]) : [];
    const parts = this.#isAnswering
      ? [...hintsIn(look, [["menuAccept", "sends it"]]), ...closeHint(look, "menuCancel", "goes back")]
      : [
          ...hintsIn(look, [["listOpen", "open its thread"]]),
          ...answer,
          ...more,
          ...closeHint(look, "listClose"),
        ];
    const words = parts.map((each) => each.replaceAll(" ", "\u00a0")).join(marksFor(look.unicode).between);
    return wrapLine([span(words, "dim")], look.columns - 1);
  }
}

/** The keys of a menu as those of an answer. */
const EDITING: Partial<Readonly<Record<CommandId, CommandId>>> = {
  menuAccept: "send",
  menuUp: "historyBack",
  menuDown: "historyForward",
};

function nameOf(ask: Ask): string {
  if (ask.kind === "approval") return "approval";
  return ask.about === "budget" ? "budget" : "question";
}
