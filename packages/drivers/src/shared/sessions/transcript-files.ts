import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readBelow, removeBelow, replaceBelow } from "@flint/host/files";
import { publishedText, type Transcripts } from "./transcripts.ts";

/** Larger sessions are neither copied nor published. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 200_000;

/** A file that a session is in, and its content. */
export interface SessionFile {
  readonly path: string;
  readonly content: Buffer;
  readonly identity: string;
}

/** The sessions in a folder, which a program that is running may write. Follows no links in it. */
export class TranscriptFiles {
  readonly #root: string;
  readonly #transcripts: Transcripts;

  /** The folder that has those with the sessions. */
  constructor(folder: string, transcripts: Transcripts) {
    this.#root = join(folder, transcripts.folder);
    this.#transcripts = transcripts;
  }

  /** The paths of the files with a session; more than one only if somebody has made a second one. */
  async find(id: string): Promise<readonly string[]> {
    const { depth, name } = this.#transcripts;
    const found: string[] = [];
    let looked = 0;
    const visit = async (below: string, level: number): Promise<void> => {
      // Expected: there is no such folder.
      const entries = await readdir(join(this.#root, below), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        looked += 1;
        if (looked > MAX_FILES) return;
        const path = join(below, entry.name);
        if (level < depth && entry.isDirectory()) await visit(path, level + 1);
        if (level === depth && name.exec(entry.name)?.[1] === id) found.push(path);
      }
    };
    await visit("", 0);
    return found;
  }

  /** The one file with a session; undefined if there is none, or it cannot be read. */
  async read(id: string): Promise<SessionFile | undefined> {
    const [path, ...others] = await this.find(id);
    return path === undefined || others.length > 0 ? undefined : this.readAt(path);
  }

  /** The file at a path; undefined if there is none, or it cannot be read. */
  async readAt(path: string): Promise<SessionFile | undefined> {
    const found = await readBelow({ root: this.#root, path }, MAX_BYTES);
    return found && { path, ...found };
  }

  /** Replaces or makes a file. */
  async write(path: string, content: Buffer): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await replaceBelow({ root: this.#root, path }, content);
  }

  /** Removes a file if there is one. Never rejects. */
  remove(path: string): Promise<void> {
    return removeBelow({ root: this.#root, path });
  }
}

/** The content to publish of a session, or the reason why it cannot be; undefined if there is nothing new in it. */
export type Publication = { readonly content: Buffer } | { readonly problem: string } | undefined;

/** The original of a session as it is now, and how much of it was there before the agent had it. */
export interface Original {
  readonly content: Buffer;
  readonly known: number;
}

/**
 * Decides what of a session that an agent has written replaces the original, which is undefined if there is none. What was
 * in the original before stays as it is; only what was added to it is checked and changed.
 */
export function publicationOf(
  transcripts: Transcripts,
  { path, content: written }: SessionFile,
  original: Original | undefined,
  { id, cwd }: { readonly id: string; readonly cwd: string },
): Publication {
  const kept = original?.content.subarray(0, original.known) ?? Buffer.alloc(0);
  if (!written.subarray(0, kept.length).equals(kept)) return { problem: "what was in it before was changed" };
  const added = written.subarray(kept.length);
  if (added.length === 0) return undefined;
  const claim = { id, path, cwd, isContinued: kept.length > 0 };
  const text = publishedText(transcripts, added.toString("utf8"), claim);
  if (text === undefined) return { problem: "it is not a session of this thread that can be read" };
  const content = Buffer.concat([kept, Buffer.from(text)]);
  return original?.content.equals(content) === true ? undefined : { content };
}
