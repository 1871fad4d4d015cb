/** Starts and ends a frame that terminals show at once (DEC mode 2026); others ignore both. */
export const FRAME = { begin: "\u001b[?2026h", end: "\u001b[?2026l" } as const;

/** Hides and shows the cursor. */
export const CURSOR = { hide: "\u001b[?25l", show: "\u001b[?25h" } as const;

/** Erases to the end of the row, and everything below. Nothing here ever erases the scrollback. */
export const ERASE = { row: "\u001b[K", below: "\u001b[J" } as const;

/** Enters and leaves the alternate screen. */
export const ALTERNATE = { enter: "\u001b[?1049h", leave: "\u001b[?1049l" } as const;

/** Rings the bell, which terminals also show in their list of windows. */
export const BELL = "\u0007";

const PASTE = { on: "\u001b[?2004h", off: "\u001b[?2004l" } as const;
const FOCUS = { on: "\u001b[?1004h", off: "\u001b[?1004l" } as const;
/** Keeps the title that the window has, and brings it back. */
const TITLE = { on: "\u001b[22;2t", off: "\u001b[23;2t" } as const;
/** Asks for keys that cannot be mistaken for others, in terminals with the kitty keyboard protocol. */
const KEYS = { on: "\u001b[>1u", off: "\u001b[<u" } as const;

/** The modes that a session switches on while it reads keys. The mouse stays the terminal's own. */
export const READING = {
  on: `${TITLE.on}${PASTE.on}${FOCUS.on}${KEYS.on}`,
  off: `${KEYS.off}${FOCUS.off}${PASTE.off}${TITLE.off}`,
} as const;

/** Asks for the colour of the background. A terminal that does not know the question stays silent. */
export const ASK_BACKGROUND = "\u001b]11;?\u001b\\";

/** Moves the cursor up by rows. */
export function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : "";
}

/** Moves the cursor to a column of its row, counted from 0. */
export function toColumn(column: number): string {
  return column === 0 ? "\r" : `\r\u001b[${column}C`;
}

/** Moves the cursor to the start of a row of the screen, counted from 0. */
export function toRow(row: number): string {
  return `\u001b[${row + 1};1H`;
}

/** Copies text to the clipboard of the user's own machine, also over SSH. */
export function copyToClipboard(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
}

/** Shows a notice on the desktop, in terminals that can. The text must not have control characters. */
export function desktopNotice(text: string): string {
  return `\u001b]9;${text}\u0007`;
}

/** Sets the title of the window. The text must not have control characters. */
export function windowTitle(text: string): string {
  return `\u001b]2;${text}\u001b\\`;
}
