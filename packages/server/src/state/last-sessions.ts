import { readFileSync } from "node:fs";
import type { LastSessions } from "@flint/frontends/acp";
import * as z from "zod/mini";
import { replaceFileSync } from "./replace-file.ts";

const Entry = z.object({ client: z.string(), folder: z.string(), sessionId: z.string() });
const Entries = z.array(Entry);
type Entry = z.output<typeof Entry>;

/** What was used longest ago is forgotten beyond this many. */
const MOST_ENTRIES = 500;

/**
 * Which session each kind of editor had last in which folder, in a file only its user can read, so that it outlives
 * the server. A file that cannot be read holds nothing; one that cannot be written costs nobody anything else.
 */
export class LastSessionsFile implements LastSessions {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  find(client: string, folder: string): string | undefined {
    return this.#read().findLast((entry) => isOf(entry, client, folder))?.sessionId;
  }

  note(client: string, folder: string, sessionId: string): void {
    const entries = this.#read();
    if (entries.findLast((entry) => isOf(entry, client, folder))?.sessionId === sessionId) return;
    const others = entries.filter((entry) => !isOf(entry, client, folder));
    this.#write([...others, { client, folder, sessionId }].slice(-MOST_ENTRIES));
  }

  #read(): readonly Entry[] {
    // Expected: no file yet, or one that was damaged or cannot be read.
    try {
      const parsed = Entries.safeParse(JSON.parse(readFileSync(this.#path, "utf8")));
      return parsed.success ? parsed.data : [];
    } catch {
      return [];
    }
  }

  #write(entries: readonly Entry[]): void {
    try {
      replaceFileSync(this.#path, `${JSON.stringify(entries)}\n`);
    } catch {
      // Expected: a full disk, or a folder that may not be written. The prompt at hand is not to fail for that.
    }
  }
}

function isOf(entry: Entry, client: string, folder: string): boolean {
  return entry.client === client && entry.folder === folder;
}
