import { randomBytes } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { codeOf } from "@flint/core/ports";
import {
  closeRead,
  type FileSystem,
  NODE_FILES,
  OPEN,
  openPrivate,
  temporaryPath,
  writeAll,
} from "./file-system.ts";

/** A lock that was got, or who has it: `owner` is undefined if the process that has it does not answer. */
export type LockAttempt = { readonly lock: Lock } | { readonly owner: number | undefined };

/** What the lock is made of: a name that the kernel frees with its process, or a file where there are no such names. */
export type LockKind = "abstract" | "path";

const ANSWER_MILLISECONDS = 300;
const ATTEMPTS = 5;
const TOKEN = /^[0-9a-f]{32}$/;

/** Takes the lock `name` of a folder on this machine's disk; see `takeLock`. */
export function lockFolder(folder: string, name: string): Promise<LockAttempt> {
  return takeLock(NODE_FILES, folder, name);
}

/** Takes the lock `name` of a folder, or says who has it. Never waits for the one who has it. */
export async function takeLock(
  files: FileSystem,
  folder: string,
  name: string,
  kind: LockKind = process.platform === "linux" ? "abstract" : "path",
): Promise<LockAttempt> {
  const address = await lockAddress(files, folder, name, kind);
  for (let attempt = 1; ; attempt += 1) {
    const server = await listen(address);
    if (server !== undefined) {
      const lock = new Lock(server);
      if (kind === "path") await files.chmod(address, 0o600);
      return { lock };
    }
    const answer = await askOwner(address);
    if (answer !== "gone" || attempt === ATTEMPTS) return { owner: answer === "gone" ? undefined : answer };
    // The owner died in this instant. A file that it listened on stays behind, a name does not.
    if (kind === "path") await files.unlink(address).catch(() => {});
  }
}

/** A lock held by this process. The kernel frees it when the process ends in whatever way. */
export class Lock {
  readonly #server: Server;
  readonly #callers = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.unref();
    server.on("connection", (caller) => this.#answer(caller));
  }

  async release(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const caller of this.#callers) caller.destroy();
    await closed;
  }

  /** Whoever connects wants to know who has the lock. */
  #answer(caller: Socket): void {
    this.#callers.add(caller);
    caller.unref();
    caller.on("error", () => {});
    caller.on("close", () => this.#callers.delete(caller));
    caller.end(String(process.pid));
  }
}

/**
 * The address belongs to the lock file, not to its path: the file holds a token that no other user can know, and a
 * copy of a folder has a lock of its own.
 */
async function lockAddress(files: FileSystem, folder: string, name: string, kind: LockKind): Promise<string> {
  const path = join(folder, name);
  if (files.lstatSync(path) === undefined) await makeLockFile(files, path);
  if (kind === "path") return join(folder, `${name}.socket`);
  const file = openPrivate(files, path, OPEN.read);
  try {
    const bytes = Buffer.alloc(64);
    const token = bytes.toString("latin1", 0, files.readSync(file, bytes, 0));
    const { dev, ino } = files.fstatSync(file);
    // A token that a power cut damaged still must give the same name to everybody.
    return `\0flint-${TOKEN.test(token) ? token : dev}-${ino}`;
  } finally {
    closeRead(files, file);
  }
}

/** Makes the lock file appear with its content, so that nobody reads half of a token; the first one wins. */
async function makeLockFile(files: FileSystem, path: string): Promise<void> {
  const temporary = temporaryPath(path);
  const file = openPrivate(files, temporary, OPEN.createNew);
  try {
    await writeAll(files, file, Buffer.from(randomBytes(16).toString("hex"), "latin1"));
    await files.link(temporary, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    closeRead(files, file);
    await files.unlink(temporary).catch(() => {});
  }
}

/** Undefined if somebody else listens there. */
function listen(address: string): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", (error) => (codeOf(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen({ path: address, exclusive: true }, () => {
      server.removeAllListeners("error");
      // A caller that vanishes must not end the process.
      server.on("error", () => {});
      resolve(server);
    });
  });
}

/** The process id of the owner; undefined if it gives none in time, as a stopped process does. */
function askOwner(address: string): Promise<number | "gone" | undefined> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ path: address });
    const timer = setTimeout(() => settle(undefined), ANSWER_MILLISECONDS);
    const settle = (answer: number | "gone" | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1").slice(0, 20);
    });
    socket.on("end", () => settle(/^\d+$/.test(text) ? Number(text) : undefined));
    socket.on("close", () => settle(undefined));
    socket.on("error", (error) => settle(isGone(error) ? "gone" : undefined));
  });
}

function isGone(error: Error): boolean {
  return codeOf(error) === "ECONNREFUSED" || codeOf(error) === "ENOENT";
}
