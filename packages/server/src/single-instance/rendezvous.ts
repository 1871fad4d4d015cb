import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { MAX_RENDEZVOUS_LINE } from "@flint/protocol";
import { runFolder, setting } from "../config/environment.ts";

/** The longest path of a unix socket that every system supports, in bytes. */
const MAX_SOCKET_PATH = 103;
const OTHERS = 0o077;

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

const LF = 10;

/**
 * Reads the first line from a socket and leaves the rest unread. Undefined if the socket ends, the line is too long, or it
 * does not arrive in time.
 */
export function firstLine(socket: Socket, milliseconds: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let seen = Buffer.alloc(0);
    const settle = (line: string | undefined): void => {
      clearTimeout(timer);
      socket.off("readable", take).off("end", giveUp).off("close", giveUp).off("error", giveUp);
      resolve(line);
    };
    const giveUp = (): void => settle(undefined);
    // Paused mode leaves the stream untouched for the next reader.
    const take = (): void => {
      seen = Buffer.concat([seen, socket.read() ?? Buffer.alloc(0)]);
      const end = seen.indexOf(LF);
      if (end !== -1) {
        if (end + 1 < seen.length) socket.unshift(seen.subarray(end + 1));
        settle(seen.toString("utf8", 0, end));
      } else if (seen.length > MAX_RENDEZVOUS_LINE) giveUp();
    };
    const timer = setTimeout(giveUp, milliseconds);
    timer.unref();
    socket.on("readable", take).on("end", giveUp).on("close", giveUp).on("error", giveUp);
  });
}
