import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readTextNoFollow } from "../files/regular-file.ts";

/** A ref as its file says. */
export interface RefRow {
  readonly name: string;
  readonly object: string;
  /** The ref that it is another name for. */
  readonly target?: string | undefined;
}

/** More than that is left to git. */
const MAX_LOOSE = 50;
const MAX_VALUE = 4096;
const MAX_PACKED = 4 * 1024 * 1024;

/** Names of which git certainly thinks the same; it has many more. */
const PLAIN_NAME = /^refs(?:\/[A-Za-z0-9_](?:[A-Za-z0-9_.+@#=-]*[A-Za-z0-9_+@#=-])?)+$/;

const OBJECT = /^((?:[0-9a-f]{40}|[0-9a-f]{64}))\n?$/;
const SYMBOLIC = /^ref: (refs\/\S+)\n?$/;
const PACKED = /^((?:[0-9a-f]{40}|[0-9a-f]{64})) (\S+)$/;

/**
 * The refs with these names, or below them, from the files of a repository that stores them as files: asking git costs a
 * process. Undefined if there is anything that git may read in another way, or too much of it.
 */
export async function refsInFiles(
  commonDir: string,
  requested: readonly string[],
): Promise<RefRow[] | undefined> {
  // Git packs a ref before it removes the file, so none is missed in this order.
  const loose = await looseRefs(commonDir, requested);
  const packed = loose === undefined ? undefined : await packedRefs(commonDir, requested);
  if (loose === undefined || packed === undefined) return undefined;
  const values = new Map([...packed, ...loose]);
  const rows: RefRow[] = [];
  for (const [name, value] of values) {
    const target = SYMBOLIC.exec(value)?.[1];
    const object = OBJECT.exec(target === undefined ? value : (values.get(target) ?? ""))?.[1];
    if (object === undefined || /^0+$/.test(object)) return undefined;
    rows.push({ name, object, target });
  }
  return rows.sort((left, right) => (left.name < right.name ? -1 : 1));
}

async function looseRefs(
  commonDir: string,
  requested: readonly string[],
): Promise<Map<string, string> | undefined> {
  const found = new Map<string, string>();
  for (let names = requested; names.length > 0; ) {
    if (found.size + names.length > MAX_LOOSE || !names.every(isPlain)) return undefined;
    const looked = await Promise.all(names.map((name) => look(commonDir, name)));
    const below: string[] = [];
    for (const [at, name] of names.entries()) {
      const place = looked[at];
      if (place === undefined) return undefined;
      if ("value" in place) found.set(name, place.value);
      // A file that git has not finished writing is not a ref.
      else
        below.push(...place.names.filter((each) => !each.endsWith(".lock")).map((each) => `${name}/${each}`));
    }
    names = below;
  }
  return found;
}

type Place = { readonly value: string } | { readonly names: readonly string[] };

/** Looks up a name: a ref, or a folder of refs. Undefined if it is neither. */
async function look(commonDir: string, name: string): Promise<Place | undefined> {
  const path = join(commonDir, name);
  const found = await lstat(path).catch(() => undefined);
  // Removed meanwhile, it is among the packed ones, or no longer there.
  if (found === undefined) return { names: [] };
  if (found.isDirectory()) return { names: await readdir(path).catch(() => []) };
  const value = await readTextNoFollow(path, MAX_VALUE);
  return value === undefined ? undefined : { value };
}

async function packedRefs(
  commonDir: string,
  requested: readonly string[],
): Promise<Map<string, string> | undefined> {
  const file = join(commonDir, "packed-refs");
  const text = await readTextNoFollow(file, MAX_PACKED);
  // Expected: there is none.
  if (text === undefined) {
    const isThere = (await lstat(file).catch(() => undefined)) !== undefined;
    return isThere ? undefined : new Map();
  }
  const found = new Map<string, string>();
  for (const line of text.split("\n").filter((row) => row !== "" && !/^[#^]/.test(row))) {
    const [, object, name] = PACKED.exec(line) ?? [];
    if (object === undefined || name === undefined) return undefined;
    if (!requested.some((each) => name === each || name.startsWith(`${each}/`))) continue;
    if (!isPlain(name)) return undefined;
    found.set(name, object);
  }
  return found;
}

function isPlain(name: string): boolean {
  const isOdd = name.includes("..") || name.split("/").some((part) => part.endsWith(".lock"));
  return PLAIN_NAME.test(name) && !isOdd;
}
