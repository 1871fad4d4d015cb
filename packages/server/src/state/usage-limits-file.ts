import { readFileSync } from "node:fs";
import type { LimitStore } from "@flint/core/ports";
import { writePrivateFileSync } from "@flint/host/private-file";
import { UsageLimit } from "@flint/protocol";
import * as z from "zod/mini";

/**
 * Keeps the usage limits of accounts in a file that only its user can read, for all servers with the same state folder. A
 * file that cannot be read has none; a failed write is ignored, because no turn may fail because of it.
 */
export class UsageLimitsFile implements LimitStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  read(): readonly UsageLimit[] {
    // Expected: no file yet, or one that was damaged or cannot be read.
    try {
      const parsed = z.array(UsageLimit).safeParse(JSON.parse(readFileSync(this.#path, "utf8")));
      return parsed.success ? parsed.data : [];
    } catch {
      return [];
    }
  }

  write(limits: readonly UsageLimit[]): void {
    try {
      writePrivateFileSync(this.#path, `${JSON.stringify(limits)}\n`);
    } catch {
      // Expected: a full disk, or a read-only folder.
    }
  }
}
