import { spawn } from "node:child_process";
import { chmod, lstat, mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { SerialQueue } from "@flint/core/async";
import { errorMessage, FlintError } from "@flint/protocol";
import { mountinfoPath, SYSTEM_PATH } from "../mechanisms/launch.ts";
import { pipesOf } from "../processes/process-tree.ts";
import { FolderPresence, type PresenceSocket } from "../sockets.ts";
import { isPlaceholder, isProtectedName, PLACEHOLDER_MODE, PROTECTED_NAMES } from "./protected-names.ts";
import { ReservedNames } from "./reserved-names.ts";

/** The mode of an ordinary folder, for a placeholder that is in use by now. */
const ORDINARY = 0o755;

/** Removing takes a few rounds; more means that the socket is open for another reason. */
const ROUNDS = 1000;

/** Failures that also keep a command from creating the name, because it has the same rights or fewer. */
const HARMLESS: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT"]);

/** Protected paths that exist until the lease is released. */
export interface PlaceholderLease {
  /** All protected paths; each exists, and none is a link. */
  readonly paths: readonly string[];
  release(): Promise<void>;
}

/** A folder in which commands run. */
interface ActiveRoot {
  readonly root: string;
  readonly presence: FolderPresence;
  readonly socket: PresenceSocket;
  readonly placeholders: Set<string>;
  users: number;
}

/**
 * Creates an empty folder for every protected name that is missing and has to be held, because only what exists can be
 * mounted over (docs/why/decisions/0008-placeholders.md). They are removed when the last command ends, of this server or
 * another. They are folders even where a file is expected, because git does not list empty folders.
 */
export class Placeholders {
  readonly #active = new Map<string, ActiveRoot>();
  readonly #queues = new Map<string, SerialQueue>();
  readonly #janitor = new Janitor();
  readonly #names: ReservedNames;

  constructor(names = new ReservedNames()) {
    this.#names = names;
  }

  /** Rejects with `sandboxUnavailable` if a name cannot be protected. */
  acquire(root: string): Promise<PlaceholderLease> {
    const queue = this.#queues.get(root) ?? new SerialQueue();
    this.#queues.set(root, queue);
    return queue.run(async () => {
      const active = this.#active.get(root) ?? (await this.#activate(root));
      active.users += 1;
      let released: Promise<void> | undefined;
      const release = () => {
        released ??= queue.run(() => this.#release(active));
        return released;
      };
      try {
        return { paths: await fill(active, this.#names.in(root)), release };
      } catch (thrown) {
        await this.#release(active);
        throw thrown;
      }
    });
  }

  /** Announces itself before it checks for others: a server that clears announces that first and then checks for users. */
  async #activate(root: string): Promise<ActiveRoot> {
    const presence = await FolderPresence.of(root);
    const socket = await presence.open("holds");
    this.#janitor.watch({ root, prefix: presence.prefix("holds") });
    for (let round = 0; round < ROUNDS && (await presence.isPresent("clears")); round += 1)
      await setImmediate();
    const active = { root, presence, socket, placeholders: new Set<string>(), users: 0 };
    this.#active.set(root, active);
    return active;
  }

  async #release(active: ActiveRoot): Promise<void> {
    active.users -= 1;
    if (active.users > 0) return;
    this.#active.delete(active.root);
    const clearing = await active.presence.open("clears");
    await active.socket.close();
    if (!(await active.presence.isPresent("holds"))) await Promise.all([...active.placeholders].map(remove));
    await clearing.close();
  }
}

/** Creates what is missing and lists everything. Nothing is still being created when it settles. */
async function fill({ root, placeholders }: ActiveRoot, held: readonly string[]): Promise<string[]> {
  const entries = await readdir(root).catch((): string[] => []);
  const present = entries.filter(isProtectedName);
  const found = new Set(present.map((name) => name.toLowerCase()));
  const missing = held.filter((name) => !found.has(name));
  const results = await Promise.allSettled([
    ...present.map((name) => examine(join(root, name), placeholders)),
    ...missing.map((name) => make(join(root, name), placeholders)),
  ]);
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  return results.flatMap((result) =>
    result.status === "fulfilled" && result.value !== undefined ? [result.value] : [],
  );
}

/** Adopts a placeholder that an ended server left behind. */
async function examine(path: string, placeholders: Set<string>): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return make(path, placeholders);
  if (found.isSymbolicLink()) throw cannotProtect(path, "it is a link, which the command could replace");
  if (isPlaceholder(found)) placeholders.add(path);
  return path;
}

async function make(path: string, placeholders: Set<string>): Promise<string | undefined> {
  // Expected: it was created in this instant, the folder is not writable, or the disk is full.
  try {
    await mkdir(path, PLACEHOLDER_MODE);
    placeholders.add(path);
    return path;
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "EEXIST") return examine(path, placeholders);
    if (HARMLESS.has(code)) return undefined;
    throw cannotProtect(path, errorMessage(thrown));
  }
}

/** A placeholder that is in use by now becomes an ordinary folder. */
async function remove(path: string): Promise<void> {
  // Expected: it is gone already, or no longer empty.
  await rmdir(path).catch(async () => {
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined && isPlaceholder(found)) await chmod(path, ORDINARY).catch(() => undefined);
  });
}

function cannotProtect(path: string, reason: string): FlintError {
  const message = `Did not run the command: ${path} cannot be protected from it, because ${reason}. Replace it by what it links to, work in a subfolder, or choose --sandbox read-only (readOnly).`;
  return new FlintError("sandboxUnavailable", message, { path });
}

/**
 * Waits for the end of the server, which closes descriptor 3, then for the end of the commands that have mounts over the
 * placeholders of a folder, and removes them unless commands of another server need them.
 */
const JANITOR_SCRIPT = `trap "" HUP INT TERM
while read -r root && read -r mounted && read -r held; do set -- "$@" "$root" "$mounted" "$held"; done <&3
is_used() { grep -qsF -e "$2" /proc/net/unix || grep -qsF -e " $1 " /proc/[0-9]*/mountinfo; }
while [ $# -gt 0 ]; do
  round=0
  while is_used "$2" "$3" && [ $round -lt 50 ]; do sleep 0.1; round=$((round + 1)); done
  if [ $round -lt 50 ]; then
    for name in ${PROTECTED_NAMES.join(" ")}; do [ -k "$1/$name" ] && rmdir "$1/$name"; done
  fi
  shift 3
done`;

/** A folder to clean up. */
export interface WatchedFolder {
  readonly root: string;
  /** The prefix of the presence sockets of commands in the folder. */
  readonly prefix: string;
}

/** Removes placeholders when the server has died. A process of its own, not a child of the server. */
export class Janitor {
  readonly #known = new Set<string>();
  #input: Writable | undefined;

  /** Registers a folder that has placeholders now or later. */
  watch({ root, prefix }: WatchedFolder): void {
    // Paths are sent as lines; in a folder with such a path the next command cleans up instead.
    if (this.#known.has(root) || root.includes("\n") || root !== root.trim()) return;
    this.#known.add(root);
    this.#input ??= startJanitor();
    this.#input?.write(`${root}\n${mountinfoPath(`${root}/.git`)}\n${prefix}\n`);
  }
}

function startJanitor(): Writable | undefined {
  const child = spawn("/bin/sh", ["-c", '(/bin/sh -c "$1" &)', "sh", JANITOR_SCRIPT], {
    cwd: "/",
    env: { PATH: SYSTEM_PATH },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  // Expected: out of processes or descriptors. The next command in the folder cleans up instead.
  child.once("error", () => undefined);
  child.unref();
  const input = pipesOf(child)[3];
  if (!(input instanceof Writable)) return undefined;
  input.on("error", () => undefined);
  if ("unref" in input && typeof input.unref === "function") input.unref();
  return input;
}
