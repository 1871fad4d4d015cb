import { createHash } from "node:crypto";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { readRegularBytes } from "../files/regular-file.ts";
import { isPlaceholder } from "../sandbox/paths/protected-names.ts";

/** The content of a file or folder, as the user reviews it, and the hash that stands for exactly this content. */
export interface Digest {
  readonly sha256: string;
  readonly content: string;
  /** The reason it cannot be trusted, as the end of a sentence. */
  readonly problem?: string;
}

/** Limits on reading a folder. */
export interface DigestLimits {
  readonly files: number;
  readonly bytes: number;
}

const LIMITS: DigestLimits = { files: 2000, bytes: 16 * 1024 * 1024 };

/** Maximum amount of text that is shown, of one file and in total. The hash covers everything. */
const SHOWN_OF_FILE = 32 * 1024;
const SHOWN = 256 * 1024;

/**
 * Reads a file or a folder with everything in it; undefined if there is none, or only the placeholder of a sandbox. A link to
 * the outside could change unnoticed and what is too large cannot be reviewed, so both are problems. The hash of a file is that
 * of its content alone.
 */
export async function digestOf(path: string, limits: DigestLimits = LIMITS): Promise<Digest | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return problemDigest(`is a link to ${await readlink(path).catch(() => "?")}`);
  if (!found.isDirectory()) return digestFile(path, limits);
  const files = await filesIn(path, limits.files + 1);
  return files.length === 0 && isPlaceholder(found) ? undefined : digestFiles(files, path, limits);
}

async function digestFile(path: string, limits: DigestLimits): Promise<Digest> {
  const content = await contentOf(path, resolve(path, ".."), limits.bytes);
  if (typeof content === "string") return problemDigest(content);
  const shown = isShowable(content) ? content.toString("utf8").trimEnd() : NOT_SHOWN;
  return { sha256: createHash("sha256").update(content).digest("hex"), content: `${shown}\n` };
}

/** The digest of several files, which are named relative to a folder. */
export async function digestFiles(
  files: readonly string[],
  base: string,
  limits: DigestLimits = LIMITS,
): Promise<Digest> {
  if (files.length > limits.files) return problemDigest(`has more than ${limits.files} files`);
  const hash = createHash("sha256");
  const shown: string[] = [];
  let bytes = 0;
  let characters = 0;
  for (const file of [...files].sort()) {
    const name = relative(base, file);
    const content = await contentOf(file, base, limits.bytes - bytes);
    if (typeof content === "string") return problemDigest(`contains ${name}, which ${content}`);
    bytes += content.length;
    hash.update(JSON.stringify([name, createHash("sha256").update(content).digest("hex")]));
    const text = content.subarray(0, SHOWN_OF_FILE).toString("utf8");
    const isShown = characters < SHOWN && isShowable(content);
    characters += text.length;
    const header =
      files.length === 1 && name === basename(file) ? [] : [`--- ${name} (${content.length} bytes)`];
    shown.push(...header, isShown ? text.trimEnd() : NOT_SHOWN);
  }
  return { sha256: hash.digest("hex"), content: `${shown.join("\n")}\n` };
}

const NOT_SHOWN = "(not shown: too long, or not text)";

function isShowable(content: Buffer): boolean {
  return content.length <= SHOWN_OF_FILE && !content.includes(0);
}

function problemDigest(problem: string): Digest {
  return { sha256: createHash("sha256").update(problem).digest("hex"), content: "", problem };
}

/** The content of a file, or the target of a link; a string says why there is none. */
async function contentOf(file: string, base: string, limit: number): Promise<Buffer | string> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isSymbolicLink() === true) {
    const target = await realpath(file).catch(() => undefined);
    const inside = await realpath(base).catch(() => base);
    if (target === undefined || !target.startsWith(inside + sep)) return "links to the outside";
    return Buffer.from(`link to ${relative(inside, target)}`);
  }
  if (found !== undefined && found.size > limit) return "makes it too large to be trusted";
  return (await readRegularBytes(file, limit)) ?? "cannot be read";
}

/** All files below a folder, up to a limit; links are among them and not followed. */
export async function filesIn(folder: string, limit: number): Promise<string[]> {
  const files: string[] = [];
  const open = [folder];
  for (let next = open.shift(); next !== undefined && files.length < limit; next = open.shift()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) (entry.isDirectory() ? open : files).push(join(next, entry.name));
  }
  return files;
}
