import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord } from "@flint/protocol";

/** The number of tasks that are remembered after a restart. */
const MOST = 10_000;

/**
 * The highest fence under which a worker has run each task. A task that comes back with a lower one was put back to an
 * old state, with a signature that is still good; so the fences are kept over restarts.
 */
export class Fences {
  readonly #highest: Map<string, number>;
  #file: number | undefined;

  constructor(highest: ReadonlyMap<string, number> = new Map(), file?: number) {
    this.#highest = new Map(highest);
    this.#file = file;
  }

  /** The fences in a file, which is made if it is not there. Lines that cannot be read are left out. */
  static async open(path: string): Promise<Fences> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const known = new Map<string, number>();
    const lines = readIfPresent(path).split(/\n+/);
    for (const line of lines) {
      const read = readLine(line);
      if (read === undefined) continue;
      const fence = Math.max(read.fence, known.get(read.task) ?? 0);
      // The tasks that ran last are at the end.
      known.delete(read.task);
      known.set(read.task, fence);
    }
    const kept = new Map([...known].slice(-MOST));
    if (lines.length > 4 * MOST) {
      const rest = [...kept].map(([task, fence]) => lineOf(task, fence));
      writeFileSync(`${path}.new`, rest.join(""), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    }
    return new Fences(kept, openSync(path, "a", 0o600));
  }

  /** The highest fence under which a task has run here; 0 if it has not. */
  highest(task: string): number {
    return this.#highest.get(task) ?? 0;
  }

  /** Returns once it is written; throws if it cannot be, and then the task must not run. */
  remember(task: string, fence: number): void {
    if (this.#file !== undefined) writeSync(this.#file, lineOf(task, fence));
    this.#highest.set(task, fence);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Starts with a line end, in case the last line was cut off. */
function lineOf(task: string, fence: number): string {
  return `\n${JSON.stringify({ task, fence })}\n`;
}

function readLine(line: string): { readonly task: string; readonly fence: number } | undefined {
  // Expected: a line that was cut off.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value.task !== "string" || !Number.isInteger(value.fence))
      return undefined;
    return { task: value.task, fence: Number(value.fence) };
  } catch {
    return undefined;
  }
}

function readIfPresent(path: string): string {
  // Expected: there is none yet. One that cannot be read must not be taken for an empty one.
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return "";
    throw thrown;
  }
}
