import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";

/** Why nothing can be written any more: the terminal was closed, the reader went away, or the place is full. */
export type OutputLoss = "terminalClosed" | "readerGone" | "unwritable";

/** What the failure of a standard stream means. */
export function lossOf({ code }: NodeJS.ErrnoException): OutputLoss {
  if (code === "EPIPE") return "readerGone";
  return code === "EIO" ? "terminalClosed" : "unwritable";
}

/** What became of the standard streams while a command ran. */
export interface StandardStreams {
  /** The first failure to write to stdout, if there was one. */
  readonly failure: NodeJS.ErrnoException | undefined;
  /** Resolves when everything was written to stdout, or could not be. */
  written(): Promise<void>;
}

/** Keeps the standard streams from ending the program with a stack trace or a crash when they are lost. */
export function watchStandardStreams(): StandardStreams {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on("error", (error) => {
    failure ??= error;
  });
  // Nowhere is left to say it.
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
 * Node gives each terminal the settings back that it had at the start, and crashes at its end where that terminal is gone
 * (seen in 20.20). It leaves alone what has another file in its place by then.
 */
function leaveClosedTerminals(): void {
  const terminals = [0, 1, 2].filter((stream) => isatty(stream));
  if (terminals.length === 0) return;
  process.on("exit", () => {
    for (const stream of terminals.filter((each) => !isatty(each))) {
      // Expected: it was closed already.
      try {
        closeSync(stream);
      } catch {}
      // The lowest free number is the one that was just closed.
      openSync("/dev/null", "r+");
    }
  });
}
