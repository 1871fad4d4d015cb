import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { readPlainFile } from "../files/regular-file.ts";
import { isPlaceholder, isProtectedName } from "../sandbox/paths/protected-names.ts";
import { IgnoreRules } from "./ignore-rules.ts";

/** An entry of the folder that is walked. */
export interface Entry {
  /** Relative to the folder that is walked, with slashes. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

/** The options of a walk. */
export interface WalkOptions {
  /** The folder to walk, with all links resolved. */
  readonly folder: string;
  /** The .gitignore files from here down to the folder apply, if it is inside. */
  readonly workspace: string;
  readonly depth?: number;
  /** The number of entries that are walked at most; more than this is left out. */
  readonly limit?: number;
  readonly signal: AbortSignal;
}

/** Folders that are never walked. */
const SKIPPED = new Set([".git", "node_modules"]);

const IGNORE_FILE_BYTES = 65_536;
const MAX_ENTRIES = 50_000;
const TIMEOUT_MS = 10_000;

/** Walks a folder in order of names, without following links. Bounded in entries and time. */
export class FolderWalk {
  readonly #options: WalkOptions;
  readonly #until = Date.now() + TIMEOUT_MS;
  #seen = 0;
  #cut: string | undefined;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  /** The reason the walk is incomplete, if it is. */
  get cut(): string | undefined {
    return this.#cut;
  }

  /** Everything but `.git`, `node_modules`, ignored files and placeholders of sandboxes, a folder before its entries. */
  async *entries(): AsyncIterable<Entry> {
    const { workspace, folder, depth = 100 } = this.#options;
    const start = pathWithin(workspace, folder);
    const base = start === undefined ? folder : workspace;
    const rules = await rulesAbove(base, start ?? "");
    for await (const { path, kind } of this.#walk(base, start ?? "", rules, depth)) {
      yield { path: start ? path.slice(start.length + 1) : path, kind };
    }
  }

  /** Paths are relative to the base here, because the ignore rules of the workspace apply in all its folders. */
  async *#walk(base: string, path: string, above: IgnoreRules, depth: number): AsyncIterable<Entry> {
    const names = await namesIn(join(base, path));
    const rules = names.some(({ name }) => name === ".gitignore") ? await withFile(above, base, path) : above;
    for (const found of names) {
      if (this.#isOver()) return;
      if (SKIPPED.has(found.name)) continue;
      const entry = { path: within(path, found.name), kind: kindOf(found) };
      if (rules.ignores(entry.path, entry.kind === "folder")) continue;
      if (await holdsName(join(base, path), found)) continue;
      yield entry;
      if (entry.kind === "folder" && depth > 1) yield* this.#walk(base, entry.path, rules, depth - 1);
    }
  }

  #isOver(): boolean {
    this.#seen += 1;
    if (this.#options.signal.aborted) return true;
    const { limit = MAX_ENTRIES } = this.#options;
    if (this.#seen > limit) this.#cut ??= `stopped after ${limit} files and folders`;
    if (Date.now() > this.#until) this.#cut ??= `stopped after ${TIMEOUT_MS / 1000} seconds`;
    return this.#cut !== undefined;
  }
}

/** The ignore rules of all folders from the base down to the one that is walked, without its own. */
async function rulesAbove(base: string, start: string): Promise<IgnoreRules> {
  let rules = IgnoreRules.none;
  let folder = "";
  for (const name of start === "" ? [] : start.split("/")) {
    rules = await withFile(rules, base, folder);
    folder = within(folder, name);
  }
  return rules;
}

/** Adds the rules of a folder's .gitignore, if it can be read. */
async function withFile(rules: IgnoreRules, base: string, folder: string): Promise<IgnoreRules> {
  const file = join(base, folder, ".gitignore");
  // Expected: no such file, a device, or one that is too large.
  const content = await readPlainFile(file, IGNORE_FILE_BYTES).catch(() => undefined);
  return content === undefined ? rules : rules.with(folder, content.toString("utf8"));
}

function within(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

async function namesIn(folder: string): Promise<Dirent[]> {
  // Expected: a folder that may not be read, or that was just removed.
  const names = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return names.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Reports whether an entry is part of the project, and not only the placeholder of a sandbox. */
async function holdsName(folder: string, found: Dirent): Promise<boolean> {
  if (!found.isDirectory() || !isProtectedName(found.name)) return false;
  // Expected: it was removed with the last command.
  const stats = await lstat(join(folder, found.name)).catch(() => undefined);
  return stats === undefined || isPlaceholder(stats);
}

function kindOf(found: Dirent): Entry["kind"] {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "folder";
  return found.isSymbolicLink() ? "link" : "other";
}

/** The path relative to a folder; empty for the folder itself, undefined for what is outside of it. */
export function pathWithin(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || resolve(inside) === inside) return undefined;
  return inside.split(sep).join("/");
}
