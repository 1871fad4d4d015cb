import type { ReadStream, WriteStream } from "node:tty";
import type { Line } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { CookedInput } from "../terminal/cooked-input.ts";
import { type CursorPosition, InlineScreen } from "../terminal/inline-screen.ts";
import {
  COMPOSER_MARGIN,
  emptyComposer,
  type StartingFolder,
  startingHeader,
  startingHint,
} from "./starting-rows.ts";

/** The rows at the bottom of a terminal, and the text typed since they were drawn. */
export interface DrawnFrame {
  readonly rows: readonly Line[];
  readonly cursor: CursorPosition;
  readonly columns: number;
  readonly typed: readonly Uint8Array[];
}

/** The first frame of a session, until the session takes it over or the command ends without one. */
export interface FirstFrame {
  /** Gives the frame to the session, which reads what is typed from now on. */
  take(): DrawnFrame;
  /** Removes it and restores the terminal. Does nothing once it was taken. */
  erase(): void;
}

const CTRL_C = 0x03;
const INTERRUPTED = 130;

/** The streams of a terminal, and how the program ends. */
export interface FirstFrameTerminal {
  readonly input: Pick<ReadStream, "setRawMode" | "on" | "off" | "pause" | "resume">;
  readonly output: Pick<WriteStream, "write">;
  exit(code: number): void;
}

/**
 * Draws the header and the composer. It uses as little code as possible: the rest of the program is loaded while the user
 * already sees it. What is typed meanwhile is kept for the session; Ctrl-C ends the program.
 */
export function drawFirstFrame(
  terminal: FirstFrameTerminal,
  place: StartingFolder,
  look: RenderOptions,
): FirstFrame {
  const { input, output } = terminal;
  const typed: Uint8Array[] = [];
  const cooked = new CookedInput();
  const rows = [startingHeader(place, look), [], emptyComposer(startingHint(look), look), []];
  const cursor = { row: 2, column: COMPOSER_MARGIN };
  const screen = new InlineScreen(
    (text) => output.write(text),
    () => look,
  );
  let isOver = false;
  const erase = (): void => {
    if (isOver) return;
    isOver = true;
    input.off("data", read);
    input.pause();
    screen.clear();
    input.setRawMode(false);
  };
  const read = (bytes: Buffer): void => {
    if (!bytes.includes(CTRL_C)) return void typed.push(cooked.read(bytes));
    erase();
    terminal.exit(INTERRUPTED);
  };
  // Keys must not be echoed into the frame.
  input.setRawMode(true);
  cooked.rawBegins();
  // Text typed before is echoed already.
  output.write("\r");
  screen.draw([], rows, cursor);
  input.on("data", read);
  input.resume();
  const take = (): DrawnFrame => {
    isOver = true;
    input.off("data", read);
    input.pause();
    return { rows, cursor, columns: look.columns, typed };
  };
  return { take, erase };
}
