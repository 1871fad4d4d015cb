import { Worker } from "node:worker_threads";
import { FileAccessError } from "@flint/host/files";

/** A line that matches. */
export interface MatchedLine {
  readonly line: number;
  readonly text: string;
}

/** Runs in a worker: a pattern can take forever, and only a worker can be terminated then. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const pattern = new RegExp(workerData.pattern, workerData.flags);
parentPort.on("message", (content) => {
  const found = [];
  const lines = content.split("\\n");
  for (let index = 0; index < lines.length && found.length < workerData.most; index += 1) {
    if (pattern.test(lines[index])) found.push({ line: index + 1, text: lines[index].slice(0, 1000) });
  }
  parentPort.postMessage(found);
});
`;

const MAX_PER_FILE = 200;

/** Finds the lines of texts that match a regular expression, with one time limit for all of them. */
export class LineMatcher {
  readonly #worker: Worker;
  readonly #until: number;
  readonly #signal: AbortSignal;

  /** Throws a FileAccessError if the pattern is not a regular expression. */
  constructor(pattern: string, ignoreCase: boolean, milliseconds: number, signal: AbortSignal) {
    const flags = ignoreCase ? "iu" : "u";
    const plainFlags = ignoreCase ? "i" : "";
    const usable = isPattern(pattern, flags) ? flags : plainFlags;
    if (!isPattern(pattern, usable)) throw new FileAccessError(`"${pattern}" is not a regular expression.`);
    this.#signal = signal;
    this.#until = Date.now() + milliseconds;
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { pattern, flags: usable, most: MAX_PER_FILE },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    this.#worker.unref();
  }

  /** The lines of a text that match; `late` if the time is up or the search was aborted. */
  find(content: string): Promise<readonly MatchedLine[] | "late"> {
    return new Promise((resolve) => {
      const settle = (found: readonly MatchedLine[] | "late") => {
        clearTimeout(timer);
        this.#signal.removeEventListener("abort", late);
        this.#worker.off("message", settle).off("error", late);
        resolve(found);
      };
      const late = () => settle("late");
      const timer = setTimeout(late, Math.max(0, this.#until - Date.now()));
      this.#signal.addEventListener("abort", late, { once: true });
      this.#worker.once("message", settle);
      // Expected: a pattern that needs more memory than the worker has.
      this.#worker.once("error", late);
      this.#worker.postMessage(content);
    });
  }

  /** Terminates the worker, whatever it does. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

function isPattern(pattern: string, flags: string): boolean {
  // Expected: an invalid regular expression.
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}
