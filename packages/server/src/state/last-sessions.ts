import { readFileSync } from "node:fs";
import type { LastSessions } from "@flint/frontends/acp";
import { writePrivateFileSync } from "@flint/host/private-file";
import * as z from "zod/mini";

const Entry = z.object({ client: z.string(), folder: z.string(), sessionId: z.string() });
const Entries = z.array(Entry);
type Entry = z.output<typeof Entry>;

/** Beyond this many, the least recently used entries are dropped. */
const MAX_ENTRIES = 500;

/**
 * Stores the last session of each kind of client in each folder, in a file that only its user can read. A file that cannot
 * be read has no entries; a failed write is ignored.
 */
export class LastSessionsFile implements LastSessions {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  find(client: string, folder: string): string | undefined {
    return this.#read().findLast((entry) => matches(entry, client, folder))?.sessionId;
  }

  note(client: string, folder: string, sessionId: string): void {
    const entries = this.#read();
    if (entries.findLast((entry) => matches(entry, client, folder))?.sessionId === sessionId) return;
    const others = entries.filter((entry) => !matches(entry, client, folder));
    this.#write([...others, { client, folder, sessionId }].slice(-MAX_ENTRIES));
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
      writePrivateFileSync(this.#path, `${JSON.stringify(entries)}\n`);
    } catch {
      // Expected: a full disk, or a read-only folder. The current prompt must not fail because of it.
    }
  }
}

function matches(entry: Entry, client: string, folder: string): boolean {
  return entry.client === client && entry.folder === folder;
}
