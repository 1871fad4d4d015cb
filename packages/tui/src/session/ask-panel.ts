import type { Approval, Decision, ThreadState } from "@flint/protocol";
import { type ApprovalChoice, type Ask, approvalPrompt, asksOf, escapeExact } from "@flint/view";
import type { CommandId } from "@flint/view/commands";
import { drawApproval } from "../draw/draw-row.ts";
import { type Line, type LineBlock, lineOf, span, textOf, textWidth, wrapLine } from "../draw/line.ts";
import { labelled } from "../draw/plain.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { hintsIn, keyIn } from "../pages/key-name.ts";
import { Composer, type DrawnComposer } from "./composer.ts";
import { QuestionForm } from "./question-form.ts";

/** The ways to answer an ask. */
export interface AskAnswers {
  approve(ask: Ask, decision: Decision): void;
  answer(ask: Ask, answers: Readonly<Record<string, readonly string[]>>): void;
}

/**
 * The part of an approval that the user can see: all of it on the screen, all of it by scrolling the terminal
 * back, or a part, and the rest nowhere but on a page of its own.
 */
export type Sight = "screen" | "scrolling" | "part";

/** A page that knows whether it was read to its end. */
interface ReadPage {
  readonly hasShownEnd: boolean;
}

/** Keys that come sooner after an ask has appeared, or after another key, were not meant for it. */
const QUIET_MS = 250;

/**
 * The open ask, one at a time, with a key for each answer. No key that was typed before the user could see
 * the ask answers it, and Enter never means yes unless a choice was selected.
 */
export class AskPanel {
  readonly #answers: AskAnswers;
  #ask: Ask | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;
  #selected: number | undefined;
  #message: Composer | undefined;
  #form: QuestionForm | undefined;
  /** True if a key was meant for the form; until then, keys may belong to the prompt that the user is writing. */
  #isFormBegun = false;
  #waiting = 0;
  #sight: Sight = "screen";
  /** All of it has been on the screen at some time. */
  #isRead = false;
  #page: ReadPage | undefined;

  constructor(answers: AskAnswers) {
    this.#answers = answers;
  }

  /** Reports whether something waits. */
  get isOpen(): boolean {
    return this.#ask !== undefined;
  }

  /** Reports whether text is typed into it: a message, or an answer that was begun. */
  get isTyping(): boolean {
    return this.#message !== undefined || this.#isFormBegun;
  }

  /** The user turns to what waits: from now on, whatever is typed is for the answers to its questions. */
  begin(): void {
    this.#isFormBegun = this.#form !== undefined;
  }

  /** Reports whether a key belongs to the ask, given when the key before it was pressed. */
  takes(now: number, lastKeyAt: number): boolean {
    return this.#ask !== undefined && (this.isTyping || now - Math.max(this.#shownAt, lastKeyAt) >= QUIET_MS);
  }

  /** Looks at what waits now. Gives the block that shows a new approval in full, to be printed. */
  update(state: ThreadState | undefined, now: number, look: RenderOptions): LineBlock | undefined {
    const asks = state === undefined ? [] : asksOf(state);
    this.#waiting = asks.length;
    const current = asks.find(({ id }) => id === this.#ask?.id);
    if (current !== undefined) return undefined;
    const [next] = asks;
    this.show(next, now);
    if (next?.kind !== "approval") return undefined;
    return subjectOf(next, look);
  }

  /** The block that shows the approval in full, if that is what waits. */
  subject(look: RenderOptions): LineBlock | undefined {
    return this.#ask?.kind === "approval" ? subjectOf(this.#ask, look) : undefined;
  }

  /** Notes how much of it can be seen. What was seen once counts as read. */
  sees(sight: Sight): void {
    this.#sight = sight;
    this.#isRead ||= sight === "screen";
  }

  /** Notes that it is shown on a page of its own. */
  shownOn(page: ReadPage): void {
    this.#page = page;
  }

  /** Reports whether it is longer than the screen and has to be read elsewhere before it can be allowed. */
  get mustBeRead(): boolean {
    return this.#sight === "part" && !this.#isRead && this.#page?.hasShownEnd !== true;
  }

  /** Shows another ask, or none. What was typed for the one before is dropped. */
  show(ask: Ask | undefined, now: number): void {
    if (ask?.id === this.#ask?.id) return;
    this.#ask = ask;
    this.#selected = undefined;
    this.#message = undefined;
    this.#form = ask?.kind === "question" ? new QuestionForm(ask.questions) : undefined;
    this.#isFormBegun = false;
    this.#shownAt = now;
    this.#sight = "screen";
    this.#isRead = false;
    this.#page = undefined;
  }

  /** The id of what waits. */
  get id(): string | undefined {
    return this.#ask?.id;
  }

  /** The approval that waits, if that is what waits. */
  get approval(): Approval | undefined {
    return this.#ask?.kind === "approval" ? this.#ask.approval : undefined;
  }

  /** The id of the item that is asked about. */
  get itemId(): string | undefined {
    return this.#ask?.kind === "approval" ? this.#ask.approval.action.itemId : undefined;
  }

  /** Types text: a choice's key, or into the message or answer. */
  type(text: string): void {
    if (this.#message !== undefined) this.#message.type(text);
    else if (this.#form !== undefined) this.#form.type(text);
    else this.#choose(this.#choices.find(({ key }) => key === text));
  }

  paste(text: string): void {
    this.#message?.paste(text);
    this.#form?.type(text);
  }

  /** Goes back from the message to the choices. */
  closeMessage(): void {
    this.#message = undefined;
  }

  /** Carries out a command. Gives whether it was one for the ask. */
  command(id: CommandId): boolean {
    if (this.#message !== undefined) return this.#messageCommand(this.#message, id);
    if (this.#form !== undefined) return this.#formCommand(this.#form, id);
    if (this.#ask?.kind !== "approval") return false;
    const choices = this.#choices;
    switch (id) {
      case "askDeclineWithMessage":
        this.#message = new Composer();
        return true;
      case "historyBack":
      case "menuUp":
        this.#selected = ((this.#selected ?? choices.length) - 1 + choices.length) % choices.length;
        return true;
      case "historyForward":
      case "menuDown":
        this.#selected = ((this.#selected ?? -1) + 1) % choices.length;
        return true;
      case "send":
      case "menuAccept":
        this.#choose(this.#selected === undefined ? undefined : choices[this.#selected]);
        return true;
      default:
        return false;
    }
  }

  /** Its rows and, while text is typed, the cursor among them. */
  draw(look: RenderOptions): { readonly rows: Line[]; readonly cursor?: DrawnComposer["cursor"] } {
    if (this.#ask === undefined) return { rows: [] };
    if (this.#message !== undefined) return drawMessage(this.#message, look);
    if (this.#form !== undefined) return this.#form.draw(look);
    return this.#ask.kind === "approval"
      ? { rows: this.#choiceRows(this.#ask.approval, look) }
      : { rows: [] };
  }

  #choiceRows(approval: Approval, look: RenderOptions): Line[] {
    const choices = this.#choices;
    const more = this.#waiting > 1 ? `  (${this.#waiting - 1} more waiting)` : "";
    const isLonger = this.#sight !== "screen" || hasDiff(approval);
    const show = hintsIn(look, [["askView", "shows it on the whole screen"]]).map((hint) => `  ${hint}`);
    const first = this.mustBeRead ? [span(`  ${READ_FIRST}`, "yellow")] : [];
    const hints = [more, ...(isLonger ? show : [])].join("");
    const head = [span("Allow it?", "bold"), ...first, span(hints, "dim")];
    const width = Math.max(...[...choices, DECLINE].map(({ label }) => label.length));
    const isNarrow = look.isPlain === true || look.columns < width + MIN_HELP;
    const column = isNarrow ? 0 : width;
    const rows = choices.map((choice, index) => choiceLine(choice, index === this.#selected, look, column));
    const lines = [
      head,
      ...rows,
      choiceLine({ ...DECLINE, key: keyIn(look, "askDeclineWithMessage") }, false, look, column),
    ];
    const drawn = lines.flatMap((line) => wrapLine(line, look.columns - 1, isNarrow ? 6 : width + 8));
    const isTooTall = look.isPlain !== true && drawn.length > look.rows * MAX_SHARE;
    return isTooTall ? this.#shortRows(head, look) : drawn;
  }

  /** For a small screen: the keys alone, so that what is asked about stays visible, and what the selected one allows. */
  #shortRows(head: Line, look: RenderOptions): Line[] {
    const selected = this.#selected === undefined ? undefined : this.#choices[this.#selected];
    const { current } = marksFor(look.unicode);
    const names = [...this.#choices, { ...DECLINE, key: keyIn(look, "askDeclineWithMessage") }].map(
      ({ key, label }): Line => {
        const isSelected = selected?.key === key;
        const mark = isSelected ? `${current} ` : "";
        return [span(`${mark}[${key}] `, "cyan"), span(escapeExact(label), isSelected ? "bold" : undefined)];
      },
    );
    const help =
      selected?.help ??
      `${keyIn(look, "menuUp")} and ${keyIn(look, "menuDown")} show what each answer allows.`;
    const lines = [head, ...flowed(names, look.columns - 1), [span(`  ${escapeExact(help)}`, "dim")]];
    return lines.flatMap((line) => wrapLine(line, look.columns - 1, 2));
  }

  get #choices(): readonly ApprovalChoice[] {
    return this.#ask?.kind === "approval" ? this.#ask.prompt.choices : [];
  }

  #choose(choice: ApprovalChoice | undefined): void {
    if (choice === undefined || this.#ask === undefined) return;
    if (choice.decision.outcome === "allow" && this.mustBeRead) return;
    this.#answers.approve(this.#ask, choice.decision);
  }

  #messageCommand(message: Composer, id: CommandId): boolean {
    if (id === "send") {
      const ask = this.#ask;
      const text = message.text.trim();
      const said = text === "" ? {} : { message: `The user declined: ${text}` };
      if (ask !== undefined) this.#answers.approve(ask, { outcome: "deny", scope: "once", ...said });
      return true;
    }
    if (id === "interruptOrClose" || id === "clearInput") {
      this.closeMessage();
      return true;
    }
    return message.command(id);
  }

  #formCommand(form: QuestionForm, id: CommandId): boolean {
    const done = form.command(id);
    if (done === "answered" && this.#ask !== undefined) this.#answers.answer(this.#ask, form.answers);
    return done !== false;
  }
}

const READ_FIRST = "Read it to its end before you allow it.";

/** Labels stand in a column if the words behind them have at least this much room. */
const MIN_HELP = 40;

/** The share of the screen that the answers of an approval may use with their explanations. */
const MAX_SHARE = 0.6;

const DECLINE = { label: "no, with reason", help: "Decline with a message to the agent" };

function choiceLine(
  { key, label, help }: Pick<ApprovalChoice, "key" | "label" | "help">,
  isSelected: boolean,
  look: RenderOptions,
  width: number,
): Line {
  const mark = isSelected ? `${marksFor(look.unicode).current} ` : "  ";
  const name = span(escapeExact(label).padEnd(width), isSelected ? "bold" : undefined);
  return [span(mark, "cyan"), span(`[${key}] `, "cyan"), name, span(`  ${escapeExact(help)}`, "dim")];
}

/** As many answers in each row as fit. */
function flowed(names: readonly Line[], columns: number): Line[] {
  const rows: Line[] = [];
  for (const name of names) {
    const last = rows.at(-1);
    const longer = last === undefined ? undefined : [...last, span("  "), ...name];
    if (longer !== undefined && textWidth(textOf(longer)) <= columns) rows[rows.length - 1] = longer;
    else rows.push([span("  "), ...name]);
  }
  return rows;
}

function messageHint(look: RenderOptions): string {
  return hintsIn(look, [
    ["send", "declines with this message"],
    ["interruptOrClose", "goes back"],
  ]).join(", ");
}

function drawMessage(
  message: Composer,
  look: RenderOptions,
): { rows: Line[]; cursor: DrawnComposer["cursor"] } {
  const head = lineOf("What should the agent do instead?", "bold");
  const drawn = message.draw(look, 5, messageHint(look));
  return { rows: [head, ...drawn.rows], cursor: { ...drawn.cursor, row: drawn.cursor.row + 1 } };
}

/** Shows the subject of an ask in full. */
function subjectOf({ prompt, cwd }: Extract<Ask, { kind: "approval" }>, look: RenderOptions): LineBlock {
  return labelled(drawApproval(prompt, look, cwd), "Approval: ", look);
}

/** Reports whether an approval has content that is better read on the whole screen. */
function hasDiff({ action, suggestions }: Approval): boolean {
  return approvalPrompt(action, suggestions).body.some(({ kind }) => kind === "diff");
}
