import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readTextNoFollow } from "../files/regular-file.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import type { Head, RepositoryState } from "./repository.ts";

/** The record of a scope's git directories that outlives the closing of its thread and the server. */
export interface GitRecord {
  /** The states from which they were made, by worktree. */
  readonly bases: ReadonlyMap<string, RepositoryState>;
  /** The changes that the user has declined to take over. */
  readonly declined: string | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Stores the record beside the git directories, where no command can write. */
export async function saveRecord(
  folder: string,
  repositories: readonly PrivateGitDir[],
  declined: string | undefined,
): Promise<void> {
  const bases = repositories.map(({ repository, base }) => [
    repository.worktree,
    { ...base, refs: [...base.refs], symbolicRefs: [...base.symbolicRefs] },
  ]);
  const file = join(folder, "record.json");
  await writeFile(`${file}.new`, JSON.stringify({ bases, declined }), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Reads the record; undefined if there is none, or it cannot be used. */
export async function loadRecord(folder: string): Promise<GitRecord | undefined> {
  const text = await readTextNoFollow(join(folder, "record.json"), MAX_BYTES);
  if (text === undefined) return undefined;
  // Expected: a file that was not written by this version.
  try {
    const { bases, declined } = Object(JSON.parse(text));
    const read = new Map<string, RepositoryState>();
    for (const [worktree, state] of pairs(bases)) read.set(worktree, readState(Object(state)));
    return { bases: read, declined: typeof declined === "string" ? declined : undefined };
  } catch {
    return undefined;
  }
}

function readState(state: Readonly<Record<string, unknown>>): RepositoryState {
  const { head, stash, indexVersion } = state;
  if (!Array.isArray(stash)) throw new TypeError("stash");
  return {
    refs: stringMap(state.refs),
    symbolicRefs: stringMap(state.symbolicRefs),
    head: readHead(Object(head)),
    stash: stash.map(String),
    indexVersion: typeof indexVersion === "string" ? indexVersion : undefined,
  };
}

function readHead({ kind, ref, commit }: Readonly<Record<string, unknown>>): Head {
  if (kind === "branch" && typeof ref === "string") return { kind, ref };
  if (kind === "detached" && typeof commit === "string") return { kind, commit };
  throw new TypeError("head");
}

function stringMap(value: unknown): Map<string, string> {
  return new Map(pairs(value).map(([key, text]) => [key, String(text)]));
}

function pairs(value: unknown): (readonly [string, unknown])[] {
  if (!Array.isArray(value)) throw new TypeError("not a list");
  return value.map((entry: unknown) => {
    const [key, found]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof key !== "string") throw new TypeError("not a pair");
    return [key, found] as const;
  });
}
