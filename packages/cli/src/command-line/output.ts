import { closeSync, fstatSync, openSync } from "node:fs";
import { escapeControls } from "@flint/view/escape";

/** Prints to stdout. Returns the exit code for success. */
export function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Prints the text of an agent or a project as it is for a program, and with control characters escaped on a terminal. */
export function printRaw(text: string): number {
  return print(process.stdout.isTTY ? escapeControls(text) : text);
}

/** Prints a message to stderr. Returns the given exit code. */
export function printError(message: string, exitCode: number): number {
  process.stderr.write(`flint: ${escapeControls(message)}\n`);
  return exitCode;
}

/** Prints a value as JSON. Of the control characters, JSON itself escapes only the older half. */
export function printJson(value: unknown): number {
  return printRaw(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Formats rows as aligned columns, with control characters escaped. The last column may have any length. */
export function columns(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => escapeControls(cell).replaceAll("\n", " ")));
  const widths = safe.reduce<number[]>(
    (known, row) => row.map((cell, index) => Math.max(known[index] ?? 0, cell.length)),
    [],
  );
  const lines = safe.map((row) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join("  "),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

/**
 * The reason output can no longer be written: the terminal was closed, the pipe was closed, or the write
 * failed.
 */
export type OutputFailure = "terminalClosed" | "readerGone" | "unwritable";

/** The cause of a failed write to a standard stream. */
export function outputFailureOf({ code }: NodeJS.ErrnoException): OutputFailure {
  if (code === "EPIPE") return "readerGone";
  return code === "EIO" ? "terminalClosed" : "unwritable";
}

/** The state of the standard streams while a command runs. */
export interface StandardStreams {
  /** The first failed write to stdout, if any. */
  readonly failure: NodeJS.ErrnoException | undefined;
  /** Resolves when everything was written to stdout, or has failed. */
  written(): Promise<void>;
}

/** Keeps a lost standard stream from ending the program with a stack trace or a crash. */
export function watchStandardStreams(): StandardStreams {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on("error", (error) => {
    failure ??= error;
  });
  // There is nowhere left to report it.
  process.stderr.on("error", () => undefined);
  leaveClosedTerminals();
  return {
    get failure() {
      return failure;
    },
    written: () => new Promise((resolve) => process.stdout.write("", () => resolve())),
  };
}

/**
 * At exit, Node restores the mode of each terminal, and crashes if the terminal is gone (seen in 20.20). It skips a
 * descriptor that has been replaced by another file.
 */
function leaveClosedTerminals(): void {
  const devices = [0, 1, 2].filter(isDevice);
  if (devices.length === 0) return;
  // Loaded only where there may be a terminal: it brings the whole network part of Node along.
  const { isatty } = process.getBuiltinModule("node:tty");
  const terminals = devices.filter((stream) => isatty(stream));
  process.on("exit", () => {
    for (const stream of terminals.filter((each) => !isatty(each))) {
      // Expected: it is already closed.
      try {
        closeSync(stream);
      } catch {}
      // Takes the lowest free descriptor, which is the one that was just closed.
      openSync("/dev/null", "r+");
    }
  });
}

function isDevice(stream: number): boolean {
  // Expected: the stream was closed before the program started.
  try {
    return fstatSync(stream).isCharacterDevice();
  } catch {
    return false;
  }
}
