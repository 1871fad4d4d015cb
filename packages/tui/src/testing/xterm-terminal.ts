// The package is CommonJS without names that Node could import.
import xterm from "@xterm/headless";
import type { TerminalSize } from "../draw/render-options.ts";
import type { DeviceListener, TerminalDevice } from "../terminal/device.ts";
import { TerminalOutput } from "./terminal-output.ts";

const { Terminal } = xterm;

/** A real terminal emulator without a window. Every write is kept, and checked for what a session must not write. */
export class XtermTerminal implements TerminalDevice {
  readonly #terminal: InstanceType<typeof Terminal>;
  readonly writes: string[] = [];
  readonly #output = new TerminalOutput();
  readonly name = "test";
  isRaw = false;
  suspended = 0;
  #listener: DeviceListener | undefined;

  constructor(columns = 80, rows = 24) {
    this.#terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
    // The terminal's own answers to queries are input.
    this.#terminal.onData((data) => this.#listener?.input(Buffer.from(data)));
  }

  get size(): TerminalSize {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  write(text: string): void {
    this.writes.push(text);
    this.#output.take(text);
    this.#terminal.write(text);
  }

  listen(listener: DeviceListener): void {
    this.#listener = listener;
    this.isRaw = true;
  }

  release(): void {
    this.#leave("released");
    this.#listener = undefined;
    this.isRaw = false;
  }

  suspend(): void {
    this.#leave("suspended");
    this.suspended += 1;
    this.isRaw = false;
  }

  /** The user continues the program. */
  continue(): void {
    this.isRaw = true;
    this.#listener?.continued();
  }

  /** Bytes from the keyboard. */
  type(keys: string): void {
    this.#listener?.input(Buffer.from(keys));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.#listener?.resized();
  }

  /** Problems of the writes so far. */
  get problems(): readonly string[] {
    return this.#output.problems;
  }

  /** Resolves once everything written is on the screen. Rejects if something was written that must not be. */
  async drawn(): Promise<void> {
    const [problem] = this.problems;
    if (problem !== undefined) throw new Error(problem);
    await new Promise<void>((resolve) => this.#terminal.write("", () => resolve()));
  }

  /** Reports whether the alternate screen is shown. */
  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  /** The position of the cursor, counted from 0. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorY, cursorX } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** The text of the row that the cursor is in. */
  get cursorLine(): string {
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "";
  }

  /** The rows on the screen. */
  get screen(): string[] {
    const { active } = this.#terminal.buffer;
    return this.#rows(active.baseY, active.baseY + this.#terminal.rows);
  }

  /** Everything on the main screen and above it, without empty rows at its end. */
  get everything(): string {
    const { normal } = this.#terminal.buffer;
    return this.#text(normal, 0, normal.length).join("\n").trimEnd();
  }

  /** Reports whether a mode such as bracketed paste is on. */
  get modes(): InstanceType<typeof Terminal>["modes"] {
    return this.#terminal.modes;
  }

  /** Another program has the terminal now, which expects it as it was. */
  #leave(how: string): void {
    const { left, problems } = this.#output;
    problems.push(...left.map((mode) => `The terminal was ${how} with ${mode}.`));
  }

  #rows(from: number, to: number): string[] {
    return this.#text(this.#terminal.buffer.active, from, to);
  }

  /** Rows that the terminal has wrapped are one line. */
  #text(buffer: InstanceType<typeof Terminal>["buffer"]["active"], from: number, to: number): string[] {
    const rows: string[] = [];
    for (let at = from; at < to; at += 1) {
      const line = buffer.getLine(at);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped === true && rows.length > 0) rows[rows.length - 1] += text;
      else rows.push(text);
    }
    return rows;
  }
}
