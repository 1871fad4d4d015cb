import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

const OTHERS = 0o077;
const SHORTEST = 32;
const LONGEST = 1024;

/**
 * The secret that clients of a TCP listener show, in a file that only its user can read. The file is read for each
 * client, so that another token counts from the next one on; a file that is gone or open to others lets nobody in.
 */
export class TokenFile {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Uses the token in the file, or makes one. Throws if the file is not private or holds no proper token. */
  static open(path: string): TokenFile {
    makeUnlessThere(path);
    readToken(path);
    return new TokenFile(path);
  }

  /** Whether this is the token, in a time that does not tell how much of it is right. */
  matches(given: string): boolean {
    try {
      return timingSafeEqual(digest(given), digest(readToken(this.path)));
    } catch {
      // Without a private file there is no token that could be right.
      return false;
    }
  }
}

/** The token in a file that only its user can read. Throws with what is wrong and the way out. */
export function readToken(path: string): string {
  const file = openSync(path, constants.O_RDONLY);
  try {
    expectPrivate(file, path);
    const bytes = Buffer.alloc(LONGEST + 1);
    const token = bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0)).trim();
    if (/^[\x21-\x7e]+$/.test(token) && token.length >= SHORTEST && token.length <= LONGEST) return token;
  } finally {
    closeSync(file);
  }
  const way = `Delete it and Flint makes one, or put ${SHORTEST} to ${LONGEST} visible characters there.`;
  throw new Error(`The file ${path} holds no token. ${way}`);
}

function expectPrivate(file: number, path: string): void {
  const { mode, uid } = fstatSync(file);
  if (uid !== process.getuid?.() && process.getuid !== undefined) {
    throw new Error(
      `The token file ${path} belongs to somebody else. Name one of your own with --token-file.`,
    );
  }
  if ((mode & OTHERS) === 0) return;
  throw new Error(`Others can read the token file ${path}. Run: chmod 600 ${path}, and change the token.`);
}

/** Makes the file appear with its content, so that nobody reads half of a token; the first one wins. */
function makeUnlessThere(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  writeFileSync(temporary, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(temporary);
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
