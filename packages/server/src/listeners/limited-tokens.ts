import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { isTaskRight, type TaskRight } from "@flint/frontends";
import { readRegularTextSync } from "@flint/host/files";
import { writePrivateFileSync } from "@flint/host/private-file";
import * as z from "zod/mini";
import { digest } from "./token.ts";

const Entry = z.object({
  name: z.string(),
  /** The SHA-256 hash of the token, which is long and random. */
  hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  rights: z.array(z.string()),
  createdAt: z.number(),
});
const Entries = z.array(Entry);
type Entry = z.output<typeof Entry>;

/** A token that is limited to some rights, without the token itself. */
export interface LimitedToken {
  readonly name: string;
  readonly rights: readonly TaskRight[];
  readonly createdAt: number;
}

const MAX_BYTES = 1024 * 1024;
const PREFIX = "flint_";

/**
 * The tokens beside the server's own that allow only some rights, in a file that only the user can read and that has their
 * hashes alone. The file is read for every client and call, so that a change takes effect at once.
 */
export class LimitedTokens {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes a token under a new name. It is stored nowhere, so the caller has to keep it. */
  create(name: string, rights: readonly TaskRight[], now: number): string {
    const entries = this.#read();
    if (entries.some((entry) => entry.name === name))
      throw new Error(`There is a token named ${name} already. Revoke it, or choose another name.`);
    const token = `${PREFIX}${randomBytes(32).toString("base64url")}`;
    this.#write([
      ...entries,
      { name, hash: digest(token).toString("hex"), rights: [...rights], createdAt: now },
    ]);
    return token;
  }

  /** All of them, oldest first. */
  list(): readonly LimitedToken[] {
    return this.#read().map(({ name, rights, createdAt }) => ({ name, rights: known(rights), createdAt }));
  }

  /** Makes a token void; false if there is none of this name. */
  revoke(name: string): boolean {
    const entries = this.#read();
    const left = entries.filter((entry) => entry.name !== name);
    if (left.length < entries.length) this.#write(left);
    return left.length < entries.length;
  }

  /**
   * Returns the function that looks up the rights of a token, which are none once it is revoked; undefined if
   * it is not one of these.
   */
  rightsOf(given: string): (() => readonly TaskRight[]) | undefined {
    // Compared as hashes, so that how long it takes says nothing about a token.
    const hash = digest(given).toString("hex");
    const rights = () => known(this.#tryRead().find((entry) => entry.hash === hash)?.rights ?? []);
    return rights().length === 0 ? undefined : rights;
  }

  /** No token is valid if the file cannot be read. */
  #tryRead(): readonly Entry[] {
    try {
      return this.#read();
    } catch {
      return [];
    }
  }

  #read(): readonly Entry[] {
    const text = readRegularTextSync(this.#path, MAX_BYTES);
    if (text === undefined && !existsSync(this.#path)) return [];
    // Expected: it was damaged or changed by hand.
    try {
      return Entries.parse(JSON.parse(text ?? ""));
    } catch (cause) {
      throw new Error(`${this.#path} cannot be read. Delete it, and create the tokens again.`, { cause });
    }
  }

  #write(entries: readonly Entry[]): void {
    writePrivateFileSync(this.#path, `${JSON.stringify(entries, null, 2)}\n`);
  }
}

function known(rights: readonly string[]): readonly TaskRight[] {
  return rights.filter(isTaskRight);
}
