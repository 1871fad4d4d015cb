import { readdir, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "@flint/core/ports";
import { plainText } from "../../files/plain-file.ts";

/** How far below a workspace repositories are looked for, in how many folders, and how long that is remembered. */
const DEPTH = 3;
const MOST_FOLDERS = 300;
const REMEMBERED_MS = 10_000;

/** More than a path can be long. */
const LONGEST = 4096;

/** Full of other people's packages, which are no repositories. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", "target", "dist", "build", "venv"]);

/** Where git keeps its things, beside the `.git` at the top of a folder. */
export class Repositories {
  readonly #clock: Clock;
  readonly #found = new Map<string, { readonly until: number; readonly paths: Promise<string[]> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The `.git` of every repository that lies not too deep inside a folder, and the folders that such files lead to. */
  inside(root: string): Promise<readonly string[]> {
    const known = this.#found.get(root);
    if (known !== undefined && this.#clock.now() < known.until) return known.paths;
    const paths = search(root);
    this.#found.set(root, { until: this.#clock.now() + REMEMBERED_MS, paths });
    return paths;
  }
}

async function search(root: string): Promise<string[]> {
  const found = await leadsFrom(join(root, ".git"));
  let folders = [root];
  let looked = 0;
  for (let depth = 0; depth <= DEPTH && looked < MOST_FOLDERS; depth += 1) {
    const next = folders.slice(0, MOST_FOLDERS - looked);
    looked += next.length;
    const inner = (await Promise.all(next.map(foldersIn))).flat();
    for (const folder of inner.filter(({ name }) => name === ".git")) {
      found.push(folder.path, ...(await leadsFrom(folder.path)));
    }
    folders = inner.filter(({ name }) => !name.startsWith(".") && !SKIPPED.has(name)).map(({ path }) => path);
  }
  return found;
}

/** What lies in a folder and is one itself, or a `.git` of whatever kind but a link. */
async function foldersIn(folder: string): Promise<{ name: string; path: string }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || (entry.isFile() && entry.name === ".git"))
    .map(({ name }) => ({ name, path: join(folder, name) }));
}

/** A worktree and a submodule have a file there which names the folder that is meant, and that may name another. */
async function leadsFrom(git: string): Promise<string[]> {
  const line = await firstLine(git);
  const named = line?.startsWith("gitdir:") === true ? line.slice("gitdir:".length).trim() : undefined;
  if (named === undefined || named === "") return [];
  const folder = await realpath(resolve(dirname(git), named)).catch(() => undefined);
  if (folder === undefined) return [];
  const common = await firstLine(join(folder, "commondir"));
  const shared =
    common === undefined ? undefined : await realpath(resolve(folder, common)).catch(() => undefined);
  return shared === undefined ? [folder] : [folder, shared];
}

/** Commands can put anything there: a pipe that never ends, a link to a device. */
async function firstLine(path: string): Promise<string | undefined> {
  const text = await plainText(path, LONGEST);
  return typeof text === "string" ? text.split("\n")[0] : undefined;
}
