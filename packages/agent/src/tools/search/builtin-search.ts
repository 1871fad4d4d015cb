import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { FileAccessError, readPlainFile } from "@flint/host/files";
import { FolderWalk, Glob } from "@flint/host/globs";
import type { ToolContext } from "../tool.ts";
import { type SearchQuery, SearchResults } from "./search-results.ts";

const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_TOTAL_BYTES = 200 * 1024 * 1024;
const TIMEOUT_MS = 20_000;

/** A file to search. */
interface Candidate {
  readonly path: string;
  readonly shown: string;
}

/** Searches file by file, where there is no ripgrep. Bounded in size and time; what was left out is noted. */
export async function searchWithoutRipgrep(
  search: SearchQuery,
  folder: string,
  shown: string,
  workspace: string,
  { signal }: ToolContext,
): Promise<SearchResults> {
  const hits = new SearchResults();
  const walk = new FolderWalk({ folder, workspace, signal });
  const matcher = new LineMatcher(search.pattern, search.ignoreCase, TIMEOUT_MS, signal);
  try {
    await searchFiles(candidates(walk, folder, shown, search.glob), matcher, hits, signal);
  } finally {
    await matcher.close();
  }
  if (walk.cut !== undefined) hits.note(walk.cut);
  return hits;
}

async function searchFiles(
  files: AsyncIterable<Candidate>,
  matcher: LineMatcher,
  hits: SearchResults,
  signal: AbortSignal,
): Promise<void> {
  let bytes = 0;
  let skipped = 0;
  for await (const { path, shown } of files) {
    if (signal.aborted || hits.isFull) return;
    const content = await readQuietly(path);
    bytes += content?.length ?? 0;
    if (content === undefined) skipped += 1;
    else if (content.subarray(0, 8192).includes(0)) continue;
    else {
      const found = await matcher.find(content.toString("utf8"));
      if (found === "late") return hits.note(`stopped after ${TIMEOUT_MS / 1000} seconds, at ${shown}`);
      for (const { line, text } of found) hits.add(shown, line, text);
    }
    if (bytes > MAX_TOTAL_BYTES) return hits.note(`stopped after ${MAX_TOTAL_BYTES / 1024 / 1024} MiB`);
  }
  if (skipped > 0) hits.note(`${skipped} files were left out because they are too large or cannot be read`);
}

async function* candidates(
  walk: FolderWalk,
  folder: string,
  shown: string,
  pattern: string | undefined,
): AsyncIterable<Candidate> {
  const glob = pattern === undefined ? undefined : Glob.search(pattern);
  const found = await lstat(folder);
  if (found.isFile()) return yield { path: folder, shown };
  if (!found.isDirectory()) throw new FileAccessError(`${shown} is neither a folder nor a plain file.`);
  for await (const { path, kind } of walk.entries()) {
    if (kind !== "file" || glob?.matches(path) === false) continue;
    yield { path: join(folder, path), shown: shown === "." ? path : `${shown}/${path}` };
  }
}

/** Expected: a file that is too large, may not be read, or is gone. */
function readQuietly(path: string): Promise<Buffer | undefined> {
  return readPlainFile(path, MAX_FILE_BYTES).catch(() => undefined);
}

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

  /** Terminates the worker, even in the middle of a search. */
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
