import type { UserQuestion } from "@flint/protocol";
import { answersOf, isAnswer, isYesOrNo, oneLine, YES_OR_NO_HINT } from "@flint/view";
import type { CommandId } from "@flint/view/commands";
import { type Line, span, wrapLine } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { keyIn } from "../pages/key-name.ts";
import type { CursorPosition } from "../terminal/inline-screen.ts";
import { Composer } from "./composer.ts";

/** Questions of an agent, asked one after another: by the number of an option, with arrows, or in the user's own words. */
export class QuestionForm {
  readonly #questions: readonly UserQuestion[];
  readonly #answers: Record<string, readonly string[]> = {};
  #at = 0;
  #selected: number | undefined;
  #checked = new Set<number>();
  #text = new Composer();
  /** The reason the answer was not accepted. */
  #problem = "";

  constructor(questions: readonly UserQuestion[]) {
    this.#questions = questions;
  }

  /** The answers so far, by question id. */
  get answers(): Readonly<Record<string, readonly string[]>> {
    return this.#answers;
  }

  /** Types into the answer; a number alone selects an option. */
  type(text: string): void {
    this.#problem = "";
    const options = this.#question?.options ?? [];
    const option = /^[1-9]$/.test(text) ? Number(text) - 1 : -1;
    if (this.#text.isEmpty && options[option] !== undefined) {
      this.#selected = option;
      if (this.#question?.multiple === true) this.#toggle(option);
      return;
    }
    if (text === " " && this.#text.isEmpty && this.#isChoosingSeveral) {
      this.#toggle(this.#selected ?? 0);
      return;
    }
    this.#selected = undefined;
    this.#text.type(text);
  }

  /** Carries out a command; `answered` once all questions are. */
  command(id: CommandId): boolean | "answered" {
    const count = this.#question?.options?.length ?? 0;
    switch (id) {
      case "send":
        return this.#submit();
      case "historyBack":
        if (count > 0) this.#selected = ((this.#selected ?? count) - 1 + count) % count;
        return true;
      case "historyForward":
        if (count > 0) this.#selected = ((this.#selected ?? -1) + 1) % count;
        return true;
      default:
        return this.#text.command(id);
    }
  }

  /** Its rows and the cursor among them. */
  draw(look: RenderOptions): { rows: Line[]; cursor?: CursorPosition } {
    const question = this.#question;
    if (question === undefined) return { rows: [] };
    const marks = marksFor(look.unicode);
    const step = this.#questions.length > 1 ? `${this.#at + 1}/${this.#questions.length} ` : "";
    const mark = look.isPlain === true ? "Question: " : `${marks.current} `;
    const title = [span(mark, "yellow"), span(`${step}${this.#heading(question)}`, "bold")];
    const options = (question.options ?? []).map((option, index) => this.#option(option, index, look));
    const problem = this.#problem === "" ? [] : [[span(this.#problem, "yellow" as const)]];
    const rows = [title, ...options, ...problem].flatMap((line) => wrapLine(line, look.columns - 1, 4));
    const hint = hintOf(question, look);
    if (question.secret === true) {
      const shown = this.#text.isEmpty ? span(hint, "dim") : span("(hidden)");
      return { rows: [...rows, [span("> ", "cyan"), shown]] };
    }
    const drawn = this.#text.draw(look, 5, hint);
    return {
      rows: [...rows, ...drawn.rows],
      cursor: { row: rows.length + drawn.cursor.row, column: drawn.cursor.column },
    };
  }

  #heading({ header, question }: UserQuestion): string {
    return oneLine(header === undefined ? question : `${header}: ${question}`);
  }

  get #isChoosingSeveral(): boolean {
    return this.#selected !== undefined && this.#question?.multiple === true;
  }

  get #question(): UserQuestion | undefined {
    return this.#questions[this.#at];
  }

  #option(
    { label, description }: { label: string; description?: string | undefined },
    index: number,
    look: RenderOptions,
  ): Line {
    const marks = marksFor(look.unicode);
    const isSelected = index === this.#selected;
    const box = this.#question?.multiple === true ? (this.#checked.has(index) ? "[x] " : "[ ] ") : "";
    const mark = isSelected ? `${marks.current} ` : "  ";
    const detail = description === undefined ? [] : [span(`  ${oneLine(description)}`, "dim" as const)];
    return [
      span(mark, "cyan"),
      span(`${index + 1} ${box}`, "cyan"),
      span(oneLine(label), isSelected ? "bold" : undefined),
      ...detail,
    ];
  }

  #toggle(option: number): void {
    if (this.#checked.has(option)) this.#checked.delete(option);
    else this.#checked.add(option);
  }

  /** Takes the answer and continues. Without any answer nothing happens. */
  #submit(): true | "answered" {
    const question = this.#question;
    const given = this.#given();
    if (question === undefined) return "answered";
    if (given.length === 0) return true;
    if (!isAnswer(question, given)) {
      this.#problem = YES_OR_NO_HINT;
      this.#text = new Composer();
      return true;
    }
    this.#answers[question.id] = given;
    this.#at += 1;
    this.#selected = undefined;
    this.#checked = new Set();
    this.#text = new Composer();
    return this.#at < this.#questions.length ? true : "answered";
  }

  #given(): string[] {
    const question = this.#question;
    const options = question?.options ?? [];
    const typed = question?.secret === true ? this.#text.text : this.#text.text.trim();
    if (typed !== "")
      return question !== undefined && isYesOrNo(question) ? [...answersOf(question, typed)] : [typed];
    const chosen = this.#checked.size > 0 ? [...this.#checked].sort() : [this.#selected ?? -1];
    return chosen.flatMap((index) => options[index]?.label ?? []);
  }
}

function hintOf(question: UserQuestion, look: RenderOptions): string {
  const send = keyIn(look, "send");
  const { options = [], multiple } = question;
  if (options.length === 0) return "Your answer";
  if (isYesOrNo(question)) return `y, n, a number, or arrows and ${send}`;
  return multiple === true
    ? `Select with numbers or Space, send with ${send}; or type an answer`
    : `A number, arrows and ${send}, or your own words`;
}
