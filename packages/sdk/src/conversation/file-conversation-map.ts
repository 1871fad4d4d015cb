import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errorMessage, isId, isRecord } from "@flint/protocol";
import type { OnWarning } from "../errors.ts";
import type { ConversationMap } from "./adapter.ts";

const FORMAT_VERSION = 1;

/**
 * A map in one JSON file that only its owner can read. Each change replaces the whole file or none of it. A
 * damaged file is renamed with a warning and never stops a program. One program at a time may use the file.
 */
export class FileConversationMap implements ConversationMap {
  readonly #path: string;
  readonly #warn: OnWarning;
  #loaded: Promise<Map<string, string>> | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(path: string, onWarning: OnWarning = () => {}) {
    this.#path = path;
    this.#warn = onWarning;
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#load()).get(key);
  }

  async set(key: string, threadId: string): Promise<void> {
    const threads = await this.#load();
    threads.set(key, threadId);
    await this.#write(threads);
  }

  async delete(key: string): Promise<void> {
    const threads = await this.#load();
    if (threads.delete(key)) await this.#write(threads);
  }

  #load(): Promise<Map<string, string>> {
    this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #read(): Promise<Map<string, string>> {
    const text = await readIfThere(this.#path);
    if (text === undefined) return new Map();
    const read = parse(text);
    if (read.damage !== undefined) await this.#renameDamaged(read.damage);
    return read.threads;
  }

  async #renameDamaged(damage: string): Promise<void> {
    const aside = `${this.#path}.damaged`;
    // The next change writes a new file, so what could not be read must not be lost.
    await rename(this.#path, aside);
    const message = `${this.#path} is damaged (${damage}); it was renamed to ${aside}, and what could be read is used.`;
    this.#warn({ kind: "damagedFile", message });
  }

  /** One write after the other, so that the last change is the one that stays. */
  #write(threads: ReadonlyMap<string, string>): Promise<void> {
    const write = this.#written.then(() => replaceFile(this.#path, render(threads)));
    this.#written = write.catch(() => {});
    return write;
  }
}

function render(threads: ReadonlyMap<string, string>): string {
  return `${JSON.stringify({ version: FORMAT_VERSION, threads: Object.fromEntries(threads) }, null, 2)}\n`;
}

type Parsed = { readonly threads: Map<string, string>; readonly damage?: string };

function parse(text: string): Parsed {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (thrown) {
    // Cut off or overwritten: expected of a file that outlives programs.
    return { threads: new Map(), damage: errorMessage(thrown) };
  }
  const stored: unknown = isRecord(content) ? content.threads : undefined;
  if (!isRecord(stored)) return { threads: new Map(), damage: "it has no threads" };
  const threads = new Map<string, string>();
  let damaged = 0;
  for (const [key, threadId] of Object.entries(stored)) {
    if (typeof threadId === "string" && isId(threadId)) threads.set(key, threadId);
    else damaged += 1;
  }
  return damaged === 0 ? { threads } : { threads, damage: `${damaged} entries hold no thread id` };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    // A file that does not exist yet is the normal beginning.
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
