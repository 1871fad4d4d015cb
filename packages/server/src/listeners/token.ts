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
const MIN_LENGTH = 32;
const MAX_LENGTH = 1024;

/**
 * The token of a WebSocket listener, in a file that only its user can read. The file is read for every client, so that a
 * changed token takes effect at once; a file that is missing or readable by others rejects every client.
 */
export class TokenFile {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Opens the file, creating a token if it does not exist. Throws if it is not private or has no valid token. */
  static open(path: string): TokenFile {
    createIfMissing(path);
    readToken(path);
    return new TokenFile(path);
  }

  /** Compares with the token in constant time. */
  matches(given: string): boolean {
    try {
      return timingSafeEqual(digest(given), digest(readToken(this.path)));
    } catch {
      // Without a private file no token is valid.
      return false;
    }
  }
}

/** Reads a token from a file that only its user can read. Throws with what is wrong and how to fix it. */
export function readToken(path: string): string {
  const file = openSync(path, constants.O_RDONLY);
  try {
    expectPrivate(file, path);
    const bytes = Buffer.alloc(MAX_LENGTH + 1);
    const token = bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0)).trim();
    if (/^[\x21-\x7e]+$/.test(token) && token.length >= MIN_LENGTH && token.length <= MAX_LENGTH)
      return token;
  } finally {
    closeSync(file);
  }
  const fix = `Delete it to create a new token, or write ${MIN_LENGTH} to ${MAX_LENGTH} printable characters to it.`;
  throw new Error(`${path} does not contain a valid token. ${fix}`);
}

function expectPrivate(file: number, path: string): void {
  const { mode, uid } = fstatSync(file);
  if (uid !== process.getuid?.() && process.getuid !== undefined) {
    throw new Error(`The token file ${path} belongs to another user. Choose one you own with --token-file.`);
  }
  if ((mode & OTHERS) === 0) return;
  throw new Error(
    `Other users can read the token file ${path}. Run chmod 600 ${path} and replace the token.`,
  );
}

/** Creates the file with its content in one step, so that no one reads half a token; the first writer wins. */
function createIfMissing(path: string): void {
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

/** The SHA-256 hash of a token. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
