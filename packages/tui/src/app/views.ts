import { type Line, screenRows, textOf } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import type { Sight } from "../session/ask-panel.ts";
import type { Session } from "../session/session.ts";
import { type Footer, footerOf } from "../session/session-rows.ts";
import type { FullScreen } from "../terminal/full-screen.ts";
import type { InlineScreen } from "../terminal/inline-screen.ts";

/** One presentation of a session. */
export interface SessionView {
  /** Shows rows that became final, the live ones, and what is below them. */
  draw(session: Session, now: number, look: RenderOptions): void;
  /** Removes what is live. */
  clear(): void;
  /** The terminal has another size, which may change again before it is drawn. */
  resized?(): void;
}

/** Finished rows in the terminal's own scrollback, a short live region below. */
export class InlineView implements SessionView {
  readonly #screen: InlineScreen;

  constructor(screen: InlineScreen) {
    this.#screen = screen;
  }

  draw(session: Session, now: number, look: RenderOptions): void {
    const { final, live } = session.transcript.take(session.state);
    const asked = askedRows(session).length;
    const bottom = bottomFor(session, now, look, ({ rows }) =>
      asked > look.rows - 1 - rows.length ? "scrolling" : "screen",
    );
    // The bottom goes before everything else; the end of what is live fills the rest.
    const room = Math.max(0, look.rows - 1 - bottom.rows.length);
    const shown = room === 0 ? [] : live.slice(-room);
    const below = bottom.rows.slice(-(look.rows - 1));
    const cut = bottom.rows.length - below.length;
    const row = (bottom.cursor?.row ?? 0) + shown.length - cut;
    const cursor = bottom.cursor === undefined || row < 0 ? undefined : { ...bottom.cursor, row };
    this.#screen.draw(final, [...shown, ...below], cursor);
  }

  clear(): void {
    this.#screen.clear();
  }

  resized(): void {
    this.#screen.resized();
  }
}

/** The number of rows that the full screen keeps; the whole thread is in the transcript. */
const MAX_ROWS = 5_000;

/** The whole screen: the end of the thread above, the composer at the bottom. */
export class FullView implements SessionView {
  readonly #screen: FullScreen;
  #rows: readonly Line[] = [];
  #columns = 0;
  #chapter = 0;
  #turnIds: readonly string[] = [];

  constructor(screen: FullScreen) {
    this.#screen = screen;
  }

  draw(session: Session, now: number, look: RenderOptions): void {
    this.#leaveOut(session, look);
    const { final, live } = session.transcript.take(session.state);
    // The first row has nothing to be apart from.
    const added = this.#rows.length === 0 && final[0]?.length === 0 ? final.slice(1) : final;
    this.#rows = [...this.#rows, ...added].slice(-MAX_ROWS);
    const asked = askedRows(session);
    const bottom = bottomFor(session, now, look, ({ rows }) =>
      isWithin(asked, this.#above(live, look.rows - rows.length)) ? "screen" : "part",
    );
    const height = Math.max(0, look.rows - bottom.rows.length);
    const above = this.#above(live, height);
    const padding = Array.from({ length: Math.max(0, height - above.length) }, (): Line => []);
    const cursor =
      bottom.cursor === undefined ? undefined : { ...bottom.cursor, row: bottom.cursor.row + height };
    this.#screen.draw([...above, ...padding, ...bottom.rows], cursor);
  }

  clear(): void {
    this.#screen.leave();
  }

  /** Drops rows that do not belong on the screen any more: of another width, another thread, or of turns that were removed. */
  #leaveOut(session: Session, { columns }: RenderOptions): void {
    const { transcript, state } = session;
    const turnIds = (state?.turns ?? []).map(({ id }) => id);
    const isOther = this.#chapter !== transcript.chapter;
    const isCut = !isOther && this.#turnIds.some((id, at) => id !== turnIds[at]);
    const isResized = this.#columns !== columns && this.#columns !== 0;
    if (isCut || isResized) transcript.again(state, session.thread.header);
    if (isOther || isCut || isResized) this.#rows = [];
    this.#chapter = transcript.chapter;
    this.#turnIds = turnIds;
    this.#columns = columns;
  }

  /** The end of the thread in as many rows. */
  #above(live: readonly Line[], height: number): readonly Line[] {
    return height <= 0 ? [] : [...this.#rows, ...live].slice(-height);
  }
}

/** The rows that show what waits for approval. */
function askedRows({ asks, transcriptLook }: Session): readonly Line[] {
  const asked = asks.subject(transcriptLook);
  return asked === undefined ? [] : screenRows(asked, transcriptLook);
}

/** The bottom, which says how what waits for approval can be read. */
function bottomFor(
  session: Session,
  now: number,
  look: RenderOptions,
  sight: (bottom: Footer) => Sight,
): Footer {
  const bottom = footerOf(session, now, look);
  if (session.asks.approval === undefined) return bottom;
  session.asks.sees(sight(bottom));
  return footerOf(session, now, look);
}

/** Reports whether rows stand among others, all of them and in their order. */
function isWithin(rows: readonly Line[], others: readonly Line[]): boolean {
  const expected = rows.map(textOf);
  const texts = others.map(textOf);
  return texts.some((_, from) => expected.every((text, at) => text === texts[from + at]));
}
