import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { runFolder, setting } from "../config/environment.ts";

/** The path of a socket has room for so many bytes on every system there is. */
const LONGEST_PATH = 103;
const OTHERS = 0o077;

/** The file that the lock of the one server of a state folder belongs to. */
export const SERVER_LOCK = "server.lock";

/** Makes a state folder and what the server is met by, or takes away what others may do with them. */
export function preparePrivate(folder: string): void {
  for (const path of [folder, runFolder(folder)]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if ((lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o700);
  }
}

/** Where the server of a state folder is met: in the folder, or in a short private one if that path is too long. */
export function meetingPath(root: string): string {
  const path = join(runFolder(resolve(root)), "server.sock");
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path;
  const name = createHash("sha256").update(resolve(root)).digest("hex").slice(0, 16);
  return join(shortFolder(), `${name}.sock`);
}

/** The folder that the server of a state folder is met in; none where there is no private one. */
export function meetingFolder(root: string): string[] {
  try {
    return [dirname(meetingPath(root))];
  } catch {
    // No server can be met there either.
    return [];
  }
}

/** A folder of the user's own under the runtime folder, or under that for temporary files, where others could be first. */
function shortFolder(): string {
  const runtime = setting("XDG_RUNTIME_DIR");
  const user = process.getuid?.() ?? "user";
  const folder = runtime === undefined ? join(tmpdir(), `flint-${user}`) : join(runtime, "flint");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = lstatSync(folder);
  const isOwn = process.getuid === undefined || uid === process.getuid();
  if (lstatSync(folder).isDirectory() && isOwn && (mode & OTHERS) === 0) return folder;
  throw new Error(
    `${folder} is not a private folder of yours. Delete it, or set FLINT_HOME to a shorter path.`,
  );
}
