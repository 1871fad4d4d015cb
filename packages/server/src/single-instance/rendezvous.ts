import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type LockAttempt, NODE_FILES, takeLock } from "@flint/host/store";
import { runFolder, setting } from "../config/environment.ts";

/** The longest path of a unix socket that every system supports, in bytes. */
const MAX_SOCKET_PATH = 103;
const OTHERS = 0o077;
const SERVER_LOCK = "server.lock";

/**
 * Makes this process the one server of a state folder, or reports which process is. The kernel decides, before anything
 * is served: the process with the lock can be found in the folder shortly after, every other one is its client.
 */
export function claimServer(folder: string): Promise<LockAttempt> {
  preparePrivate(folder);
  return takeLock(NODE_FILES, folder, SERVER_LOCK);
}

/** Creates a state folder and the folder of its socket, or makes existing ones private. */
export function preparePrivate(folder: string): void {
  for (const path of [folder, runFolder(folder)]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if ((lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o700);
  }
}

/** The rendezvous socket of a state folder: in the folder, or in a short private one if that path is too long. */
export function rendezvousPath(root: string): string {
  const path = join(runFolder(resolve(root)), "server.sock");
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return path;
  const name = createHash("sha256").update(resolve(root)).digest("hex").slice(0, 16);
  return join(shortFolder(), `${name}.sock`);
}

/** The folder of the rendezvous socket; empty if there is no private folder for it. */
export function rendezvousFolder(root: string): string[] {
  try {
    return [dirname(rendezvousPath(root))];
  } catch {
    // No server can listen there either.
    return [];
  }
}

/** A private folder under the runtime folder, or under the one for temporary files, where other users could create it first. */
function shortFolder(): string {
  const runtime = setting("XDG_RUNTIME_DIR");
  const user = process.getuid?.() ?? "user";
  const folder = runtime === undefined ? join(tmpdir(), `flint-${user}`) : join(runtime, "flint");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = lstatSync(folder);
  const isOwn = process.getuid === undefined || uid === process.getuid();
  if (lstatSync(folder).isDirectory() && isOwn && (mode & OTHERS) === 0) return folder;
  throw new Error(`${folder} is not private to you. Delete it, or set FLINT_HOME to a shorter path.`);
}
