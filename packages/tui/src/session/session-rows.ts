import type { ThreadState } from "@flint/protocol";
import { totalTokens } from "@flint/protocol";
import { duration, escapeControls, money, tokens } from "@flint/view";
import { cutLine, type Line, span } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { statusLine } from "../draw/turn-status.ts";
import { startingHeader, startingHint } from "../first-frame/starting-rows.ts";
import { hintsIn } from "../pages/key-name.ts";
import type { CursorPosition } from "../terminal/inline-screen.ts";
import { otherSender } from "./sent-inputs.ts";
import type { Session } from "./session.ts";

/** Interval at which the status of a running turn changes. */
export const TICK_MS = 200;

/** The rows at the bottom of a session, and the cursor among them. */
export interface Footer {
  readonly rows: readonly Line[];
  readonly cursor?: CursorPosition | undefined;
}

const COMPOSER_ROWS = 10;
/** A longer menu would push the transcript out of sight. */
const MENU_ROWS = 14;

/** Everything below the transcript: status, queue, what waits for an answer, the menu, the composer and the footer. */
export function footerOf(session: Session, now: number, look: RenderOptions): Footer {
  const { state } = session;
  const status = state?.activeTurnId === undefined ? [] : [[], turnStatus(session, state, now, look)];
  const queue = state === undefined ? [] : queueRows(state, look);
  const footer = footerLine(session, look);
  const above = [...startingRows(session, look), ...status, ...queue, []];
  // A menu has the keys until it is closed, so it is what is seen.
  if (session.asks.isOpen && session.menu === undefined) {
    const { rows, cursor } = session.asks.draw(look);
    return placed([...above, ...rows], cursor, above.length, [footer]);
  }
  const room = Math.max(3, look.rows - above.length - 6);
  const menu =
    session.menu?.draw(look, Math.min(MENU_ROWS, room)) ?? completionRows(session, Math.min(8, room), look);
  const composer = session.composer.draw(look, Math.min(COMPOSER_ROWS, room), hintOf(session, look));
  const rows = [...above, ...menu, ...composer.rows];
  return placed(rows, composer.cursor, above.length + menu.length, [footer]);
}

function placed(rows: Line[], cursor: CursorPosition | undefined, offset: number, below: Line[]): Footer {
  const all = [...rows, ...below];
  return cursor === undefined
    ? { rows: all }
    : { rows: all, cursor: { ...cursor, row: cursor.row + offset } };
}

/** The header is final once the server has said what is in force. */
function startingRows({ link, machine }: Session, look: RenderOptions): Line[] {
  if (link !== "connecting") return [];
  const { cwd, home } = machine;
  return [startingHeader({ cwd, home, branch: machine.branchOf(cwd) }, look)];
}

function hintOf(session: Session, look: RenderOptions): string {
  if (session.link === "connecting") return startingHint(look);
  return session.state?.activeTurnId === undefined
    ? "Ask for something, / for commands"
    : hintsIn(look, [
        ["send", "steers"],
        ["queueInput", "queues"],
      ]).join(", ");
}

function turnStatus(session: Session, state: ThreadState, now: number, look: RenderOptions): Line {
  // The present activity of the turn is unknown.
  if (session.link !== "open")
    return [span(marksFor(look.unicode).pending, "yellow"), span(" Not connected")];
  const elapsed = session.transcript.workedMs(state);
  const isOwn = state.usageTurnId === state.activeTurnId;
  const figures = [
    duration(Math.floor(elapsed / 1000) * 1000).replace(".0s", "s"),
    ...(isOwn && totalTokens(state.lastUsage) > 0 ? [tokens(totalTokens(state.lastUsage))] : []),
    ...(state.cost === undefined ? [] : [money(state.cost)]),
  ];
  const activity = session.transcript.activity(state);
  return statusLine(
    {
      activity,
      figures,
      hint: hintsIn(look, [["interruptTurn", "to interrupt"]]).join(""),
      tick: Math.floor(now / TICK_MS),
    },
    look,
  );
}

/** The list of completions above the composer. */
function completionRows({ help }: Session, most: number, look: RenderOptions): Line[] {
  const marks = marksFor(look.unicode);
  const { rows, below } = help.completer.isOpen ? help.completer.window(most) : { rows: [], below: 0 };
  const more = below === 0 ? [] : [[span(`  ${marks.more} ${below} more`, "dim" as const)]];
  const shown = rows.map((row): Line => {
    if (row.type === "group") return [span(escapeControls(row.title), "bold")];
    const detail =
      row.item.detail === undefined ? [] : [span(`  ${escapeControls(row.item.detail)}`, "dim" as const)];
    const mark = span(row.isSelected ? `${marks.current} ` : "  ", "cyan");
    return [mark, span(escapeControls(row.item.label), row.isSelected ? "bold" : undefined), ...detail];
  });
  return [...shown, ...more].map((line) => cutLine(line, look.columns - 1, marks.more));
}

function queueRows({ queue }: ThreadState, look: RenderOptions): Line[] {
  const marks = marksFor(look.unicode);
  return queue.map((queued) => {
    const sender = otherSender(queued);
    const label = sender === undefined ? "queued: " : `queued by ${escapeControls(sender)}: `;
    const text = queued.input
      .map((piece) => (piece.type === "text" ? piece.text : `[${piece.type}]`))
      .join(" ");
    const line = [span(`${marks.pending} ${label}`, "dim"), span(escapeControls(text).replaceAll("\n", " "))];
    return cutLine(line, look.columns - 1, marks.more);
  });
}

/** The last row: a message to the user, or what is in force. */
function footerLine(session: Session, look: RenderOptions): Line {
  const { more, between } = marksFor(look.unicode);
  const text = session.notice ?? session.statusLine.texts.join(between);
  return cutLine(
    [span(`  ${text}`, session.notice === undefined ? "dim" : "yellow")],
    look.columns - 1,
    more,
  );
}
