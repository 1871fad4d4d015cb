import { chmod, lstat, mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { SerialQueue } from "@flint/core/async";
import type { Clock } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { FolderPresence, type PresenceSocket } from "../sockets/presence.ts";
import { Janitor } from "./janitor.ts";
import { isPlaceholder, isProtectedName, PLACEHOLDER_MODE, PROTECTED_NAMES } from "./protected-names.ts";
import { Repositories } from "./repositories.ts";

/** The mode of an ordinary folder, for a placeholder that is in use by now. */
const ORDINARY = 0o755;

/** Removing takes a few rounds; more means that the socket is open for another reason. */
const ROUNDS = 1000;

/** Failures that also keep a command from creating the name, because it has the same rights or fewer. */
const HARMLESS: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT"]);

/** Protected paths that stay in place until the lease is released. */
export interface Lease {
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

/** Everything in writable folders that must not be written, kept in place while a command runs. */
export class ProtectedPaths {
  readonly #placeholders = new Placeholders();
  readonly #repositories: Repositories;

  constructor(clock: Clock) {
    this.#repositories = new Repositories(clock);
  }

  /** Rejects with `sandboxUnavailable` if something cannot be protected. */
  async acquire(roots: readonly string[]): Promise<Lease> {
    const attempts = await Promise.allSettled(roots.map((root) => this.#placeholders.acquire(root)));
    const leases = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
    const release = async () => void (await Promise.all(leases.map((lease) => lease.release())));
    const failure = attempts.find((attempt) => attempt.status === "rejected");
    if (failure !== undefined) {
      await release();
      throw failure.reason;
    }
    const nested = await Promise.all(roots.map((root) => this.#repositories.inside(root)));
    return { paths: [...leases.flatMap((lease) => lease.paths), ...nested.flat()], release };
  }
}

/**
 * Creates an empty folder for every protected name that is missing, because only what exists can be mounted over. They
 * are removed when the last command ends, of this server or another. Folders even in place of files, because git does
 * not list empty folders.
 */
export class Placeholders {
  readonly #active = new Map<string, ActiveRoot>();
  readonly #queues = new Map<string, SerialQueue>();
  readonly #janitor = new Janitor();

  /** Rejects with `sandboxUnavailable` if a protected name cannot be kept in place. */
  acquire(root: string): Promise<Lease> {
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
        return { paths: await fill(active), release };
      } catch (thrown) {
        await this.#release(active);
        throw thrown;
      }
    });
  }

  /** Announces itself before it looks at others: whoever clears looks for the announcement after its own. */
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
async function fill({ root, placeholders }: ActiveRoot): Promise<string[]> {
  const entries = await readdir(root).catch((): string[] => []);
  const present = entries.filter(isProtectedName);
  const found = new Set(present.map((name) => name.toLowerCase()));
  const missing = PROTECTED_NAMES.filter((name) => !found.has(name));
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
  if (found.isSymbolicLink())
    throw cannotProtect(path, "it is a link, and a link cannot be kept from being replaced");
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
    throw cannotProtect(path, thrown instanceof Error ? thrown.message : String(thrown));
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
