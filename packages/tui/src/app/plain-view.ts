import { type Line, textOf } from "../draw/line.ts";
import { plainModeText } from "../draw/plain.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { withoutControls } from "../draw/styled.ts";
import type { Page } from "../session/context.ts";
import type { Session } from "../session/session.ts";
import type { CursorPosition } from "../terminal/inline-screen.ts";
import type { SessionView } from "./views.ts";

/** Pages are printed whole; of a longer one, this many rows. */
const PAGE_ROWS = 10_000;

/** The part in front: its lines, and the line that the user types into. */
interface Front {
  /** The object that it shows: a change of it prints everything. */
  readonly of: unknown;
  readonly lines: readonly string[];
  readonly field: string;
}

/**
 * Lines for screen readers and simple terminals: each begins with a word for what it is, and no line is drawn over, moved or
 * coloured. Menus, lists and pages are printed when they open; after that, only what changes in them is.
 */
export class PlainView implements SessionView {
  readonly #write: (text: string) => void;
  #front: Front | undefined;
  #notice: string | undefined;
  /** The prompt that was sent last: it stands on the terminal already. */
  #sent: string | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  draw(session: Session, _now: number, look: RenderOptions): void {
    const front = frontOf(session, look);
    const before = this.#front;
    const isCleared = front.field === PROMPT || front.field === "";
    if (isPrompt(before?.field) && isCleared) this.#sent = before?.field;
    // Events behind a page are printed once it is closed.
    const final = session.page === undefined ? session.transcript.take(session.state).final : [];
    const notice =
      session.notice === undefined || session.notice === this.#notice ? [] : [`Note: ${session.notice}`];
    const lines = [...this.#withoutSent(final.map(textOf)), ...changedLines(before, front), ...notice];
    this.#front = front;
    this.#notice = session.notice;
    const printed = lines.map((line) => `${withoutControls(line)}\r\n`).join("");
    const isNew = printed !== "" || before?.of !== front.of;
    // Typed text stays on its line.
    if (isNew) this.#write(`${(before?.field ?? "") === "" ? "" : "\r\n"}${printed}${front.field}`);
    else if (front.field !== before?.field) this.#write(echo(before?.field ?? "", front.field));
  }

  clear(): void {
    this.#write("\r\n");
  }

  #withoutSent(lines: readonly string[]): readonly string[] {
    const at = this.#sent === undefined ? -1 : lines.indexOf(this.#sent);
    if (at === -1) return lines;
    this.#sent = undefined;
    return lines.filter((line, index) => index !== at && !(line === "" && index === at - 1));
  }
}

const PROMPT = "You: ";

function isPrompt(field: string | undefined): field is string {
  return field?.startsWith(PROMPT) === true && field !== PROMPT;
}

function frontOf(session: Session, look: RenderOptions): Front {
  const { page, asks, menu, composer } = session;
  if (page !== undefined) return pageFront(page, look);
  if (menu !== undefined) {
    const lines = menu.draw(look, PAGE_ROWS).map((line) => plainModeText(line, look));
    return { of: menu, lines, field: `Choose: ${menu.typed}` };
  }
  if (asks.isOpen) {
    const { rows, cursor } = asks.draw(look);
    return {
      of: asks.id,
      ...withField(
        rows.map((line) => plainModeText(line, look)),
        cursor,
        "Your answer: ",
      ),
    };
  }
  // While a turn runs, what it does is not cut up by prompts that are not used.
  const isIdle = session.state?.activeTurnId === undefined;
  const typed = withoutControls(composer.text.replaceAll("\n", " "));
  return { of: "composer", lines: [], field: typed === "" && !isIdle ? "" : `${PROMPT}${typed}` };
}

function pageFront(page: Page, look: RenderOptions): Front {
  const { rows, cursor } = page.draw({ ...look, rows: PAGE_ROWS });
  const text = (line: Line) => (page.place === "pager" ? textOf(line) : plainModeText(line, look));
  return { of: page, ...withField(rows.map(text), cursor, "") };
}

/** The row with the cursor is what is typed into. */
function withField(
  rows: readonly string[],
  cursor: CursorPosition | undefined,
  otherwise: string,
): Pick<Front, "lines" | "field"> {
  if (cursor === undefined) return { lines: rows, field: otherwise };
  const field = withoutControls(rows[cursor.row] ?? otherwise);
  return { lines: rows.filter((_, at) => at !== cursor.row), field };
}

const SELECTED = "Selected: ";

/** The lines that were not printed yet; all of them if something else is in front. Rows that fill the screen are left out. */
function changedLines(before: Front | undefined, { of, lines }: Front): readonly string[] {
  if (before === undefined || before.of !== of)
    return lines.filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "");
  const known = new Set(before.lines);
  // A line that is not selected any more says nothing new.
  const isKnown = (line: string) => known.has(line) || known.has(`${SELECTED}${line.trimStart()}`);
  return lines.filter((line) => line !== "" && !isKnown(line));
}

/** Returns the text typed since, or the line again if it was edited. */
function echo(before: string, now: string): string {
  return now.startsWith(before) ? now.slice(before.length) : `\r\n${now}`;
}
