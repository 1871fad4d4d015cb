import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, dirname } from "node:path";
import { mintId } from "@flint/protocol";
import { isSocket } from "../files/path-kinds.ts";

/**
 * The sockets in the file system that a process is bound to. A read-only mount does not keep a command from connecting
 * to them, and the process behind it acts with more rights than the command has.
 */
export async function boundSockets(isRelevant: (path: string) => boolean): Promise<string[]> {
  const relevant = pathsIn(await boundNames()).filter(isRelevant);
  const found = await Promise.all(relevant.map(isSocket));
  return relevant.filter((_, at) => found[at]);
}

/** The names of all bound sockets as the kernel lists them. Rejects if the list cannot be read. */
export async function boundNames(): Promise<string> {
  // Expected: a system without that list. Any other failure could leave a socket uncovered.
  return readFile("/proc/net/unix", "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** The file system paths among these names, without repeats. */
export function pathsIn(names: string): string[] {
  const paths = names.split("\n").map(pathOf);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Seven columns, then the path, if it has one; abstract names start with an at sign. */
function pathOf(line: string): string | undefined {
  return /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1];
}

/** `holds`: commands run in the folder. `clears`: its placeholders are being removed. `listens`: a server listens in it. */
type PresenceKind = "holds" | "clears" | "listens";

/** A socket whose name announces something to other processes until it is closed or its process ends. */
export interface PresenceSocket {
  close(): Promise<void>;
}

/**
 * The announcements of this machine's processes about one folder, made through the names of abstract sockets.
 */
export class FolderPresence {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Identified by device and inode, so every path of a folder gives the same. */
  static async of(folder: string): Promise<FolderPresence> {
    const { dev, ino } = await stat(folder, { bigint: true });
    return new FolderPresence(`${dev}-${ino}`);
  }

  /** The prefix of such names in the kernel's list, for all folders. */
  static prefix(kind: PresenceKind): string {
    return `@flint-${kind}-`;
  }

  /** The prefix of such names for this folder, or for one name in it. */
  prefix(kind: PresenceKind, name?: string): string {
    const named =
      name === undefined ? "" : `${createHash("sha256").update(name).digest("hex").slice(0, 16)}-`;
    return `${FolderPresence.prefix(kind)}${this.#folder}-${named}`;
  }

  /** Announces something about this folder, or about one name in it. */
  open(kind: PresenceKind, name?: string): Promise<PresenceSocket> {
    return announce(this.prefix(kind, name));
  }

  /** Reports whether any process announces this about the folder. */
  async isPresent(kind: PresenceKind): Promise<boolean> {
    return (await boundNames()).includes(this.prefix(kind));
  }
}

/** Opens a socket with a name that begins like this in the kernel's list. */
function announce(prefix: string): Promise<PresenceSocket> {
  const server = createServer((caller) => caller.destroy());
  server.unref();
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return new Promise((resolve) => {
    // Expected: out of descriptors. It is then not announced, as if there were no other process.
    server.once("error", () => resolve({ close: async () => undefined }));
    const path = prefix.replace("@", "\0") + mintId();
    server.listen({ path, exclusive: true }, () => resolve({ close }));
  });
}

const portPrefix = (port: number) => `@flint-port-${port}-`;

/** Announces to all Flint servers of this machine that one of them listens on a TCP port. */
export function announcePort(port: number): Promise<PresenceSocket> {
  return announce(portPrefix(port));
}

/**
 * Reports whether a Flint server of this machine listens on a TCP port, where anyone who connects may act as
 * the user.
 */
export async function isServerPort(port: number): Promise<boolean> {
  return (await boundNames()).includes(portPrefix(port));
}

/**
 * Announces to all Flint servers of this machine that one of them listens at a path. To be called before the socket is
 * created, so that no sandbox ever sees it unannounced.
 */
export async function announceListener(path: string): Promise<PresenceSocket> {
  const presence = await FolderPresence.of(dirname(path));
  return presence.open("listens", basename(path));
}

/** The sockets of all Flint servers of this machine, where anyone who connects acts as the user. */
export async function listenerSockets(): Promise<string[]> {
  const names = await boundNames();
  if (!names.includes(FolderPresence.prefix("listens"))) return [];
  const paths = pathsIn(names);
  const areListeners = await Promise.all(paths.map((path) => isListener(path, names)));
  return paths.filter((_, at) => areListeners[at]);
}

/** The nearest parent folder in which commands run now, whose sandboxes cannot cover anything new. */
export async function busyFolder(path: string): Promise<string | undefined> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const presence = await FolderPresence.of(folder).catch(() => undefined);
    if (presence !== undefined && (await presence.isPresent("holds"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

async function isListener(path: string, names: string): Promise<boolean> {
  // Expected: the folder is gone or not accessible.
  const presence = await FolderPresence.of(dirname(path)).catch(() => undefined);
  return presence !== undefined && names.includes(presence.prefix("listens", basename(path)));
}
