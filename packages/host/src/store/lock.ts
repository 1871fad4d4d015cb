import { randomBytes } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { codeOf } from "@flint/core/ports";
import {
  closeQuietly,
  type FileSystem,
  NODE_FILES,
  OPEN,
  openPrivate,
  temporaryPath,
  writeAll,
} from "./file-system.ts";

/** The acquired lock, or the process id of its owner; undefined if the owner does not answer. */
export type LockAttempt = { readonly lock: Lock } | { readonly owner: number | undefined };

/**
 * The implementation of a lock: an abstract socket, which the kernel frees with its process, or a socket file
 * elsewhere.
 */
export type LockKind = "abstract" | "path";

/** The kind that this system supports. */
export const LOCK_KIND: LockKind = process.platform === "linux" ? "abstract" : "path";

const ANSWER_MILLISECONDS = 300;
const ATTEMPTS = 5;
const TOKEN = /^[0-9a-f]{32}$/;

/** Number of bytes of a lock file that are its token. The rest is not part of the address. */
export const TOKEN_LENGTH = 32;

/** Acquires the lock `name` of a folder on this machine's disk; see `acquireLock`. */
export function lockFolder(folder: string, name: string): Promise<LockAttempt> {
  return acquireLock(NODE_FILES, folder, name);
}

/** Acquires the lock `name` of a folder, or returns its owner. Never waits for the lock. */
export async function acquireLock(
  files: FileSystem,
  folder: string,
  name: string,
  kind: LockKind = LOCK_KIND,
): Promise<LockAttempt> {
  const address = await lockAddress(files, folder, name, kind);
  for (let attempt = 1; ; attempt += 1) {
    const server = await listen(address);
    if (server !== undefined) {
      const lock = new Lock(server);
      if (kind === "path") await files.chmod(address, 0o600);
      return { lock };
    }
    const answer = await queryOwner(address);
    if (answer !== "gone" || attempt === ATTEMPTS) return { owner: answer === "gone" ? undefined : answer };
    // The owner has just died. Its socket file stays behind; an abstract socket does not.
    if (kind === "path") await files.unlink(address).catch(() => {});
  }
}

/** A lock of this process. The kernel frees it however the process ends. */
export class Lock {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.unref();
    server.on("connection", (client) => this.#sendPid(client));
  }

  async release(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  /** Clients connect to learn the process id of the owner. */
  #sendPid(client: Socket): void {
    this.#clients.add(client);
    client.unref();
    client.on("error", () => {});
    client.on("close", () => this.#clients.delete(client));
    client.end(String(process.pid));
  }
}

/**
 * The address depends on the lock file, not on its path: the file contains a token that no other user can know, and a
 * copy of a folder has its own lock.
 */
async function lockAddress(files: FileSystem, folder: string, name: string, kind: LockKind): Promise<string> {
  const path = join(folder, name);
  if (files.lstatSync(path) === undefined) await createLockFile(files, path);
  if (kind === "path") return join(folder, `${name}.socket`);
  const file = openPrivate(files, path, OPEN.read);
  try {
    const bytes = Buffer.alloc(TOKEN_LENGTH);
    const token = bytes.toString("latin1", 0, files.readSync(file, bytes, 0));
    const { dev, ino } = files.fstatSync(file);
    // A token that a power failure damaged must still result in the same address for everyone.
    return `\0flint-${TOKEN.test(token) ? token : dev}-${ino}`;
  } finally {
    closeQuietly(files, file);
  }
}

/** Creates the lock file atomically, so that no process reads half a token. The first one wins. */
async function createLockFile(files: FileSystem, path: string): Promise<void> {
  const temporary = temporaryPath(path);
  const file = openPrivate(files, temporary, OPEN.createNew);
  try {
    await writeAll(files, file, Buffer.from(newToken(), "latin1"));
    await files.link(temporary, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    closeQuietly(files, file);
    await files.unlink(temporary).catch(() => {});
  }
}

/** A token that no other user can guess. */
export function newToken(): string {
  return randomBytes(TOKEN_LENGTH / 2).toString("hex");
}

/** Undefined if the address is in use. */
export function listen(address: string): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", (error) => (codeOf(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen({ path: address, exclusive: true }, () => {
      server.removeAllListeners("error");
      // A client that disconnects must not end the process.
      server.on("error", () => {});
      resolve(server);
    });
  });
}

/** The process id of the owner; undefined if it does not answer in time, as when it is suspended. */
export function queryOwner(address: string): Promise<number | "gone" | undefined> {
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
    socket.on("error", (error) => settle(isUnclaimed(error) ? "gone" : undefined));
  });
}

function isUnclaimed(error: Error): boolean {
  return codeOf(error) === "ECONNREFUSED" || codeOf(error) === "ENOENT";
}
