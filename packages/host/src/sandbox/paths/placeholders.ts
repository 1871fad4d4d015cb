import { chmod, lstat, mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { SerialQueue } from "@flint/core/serial-queue";
import { FlintError } from "@flint/protocol";
import { FolderSigns, type Sign } from "../sockets/folder-presence.ts";
import { Janitor } from "./janitor.ts";
import { isPlaceholder, PLACEHOLDER_MODE } from "./placeholder-mark.ts";
import { isProtectedName, PROTECTED_NAMES } from "./protected-names.ts";

/** What an ordinary folder has; for one that somebody put something into. */
const ORDINARY = 0o755;

/** Removing takes a few of these; more means that a sign hangs for another reason. */
const ROUNDS = 1000;

/** Failures that keep a command from making the name just as well: it has the same rights or fewer. */
const HARMLESS: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT"]);

/** The protected names of a folder, kept in place for as long as a command runs in there. */
export interface Hold {
  /** Everything under a protected name; nothing is missing, and nothing is a link. */
  readonly paths: readonly string[];
  release(): Promise<void>;
}

/** A folder while commands run in it. */
interface Held {
  readonly root: string;
  readonly signs: FolderSigns;
  readonly sign: Sign;
  readonly placeholders: Set<string>;
  users: number;
}

/**
 * Puts an empty folder under every protected name that is missing, because only what exists can be mounted over and
 * so be kept from being made. They are gone when the last command ends, of this server or of another. Folders, even
 * where a file would be expected, because git does not list empty folders.
 */
export class Placeholders {
  readonly #held = new Map<string, Held>();
  readonly #queues = new Map<string, SerialQueue>();
  readonly #janitor = new Janitor();

  /** Rejects with `sandboxUnavailable` if a protected name cannot be kept. */
  hold(root: string): Promise<Hold> {
    const queue = this.#queues.get(root) ?? new SerialQueue();
    this.#queues.set(root, queue);
    return queue.run(async () => {
      const held = this.#held.get(root) ?? (await this.#begin(root));
      held.users += 1;
      let released: Promise<void> | undefined;
      const release = () => {
        released ??= queue.run(() => this.#leave(held));
        return released;
      };
      try {
        return { paths: await fill(held), release };
      } catch (thrown) {
        await this.#leave(held);
        throw thrown;
      }
    });
  }

  /** The sign comes before the look at what others do: whoever clears looks for it after hanging out theirs. */
  async #begin(root: string): Promise<Held> {
    const signs = await FolderSigns.of(root);
    const sign = await signs.hangOut("holds");
    this.#janitor.lookAfter({ root, held: signs.prefix("holds") });
    for (let round = 0; round < ROUNDS && (await signs.hangs("clears")); round += 1) await setImmediate();
    const held = { root, signs, sign, placeholders: new Set<string>(), users: 0 };
    this.#held.set(root, held);
    return held;
  }

  async #leave(held: Held): Promise<void> {
    held.users -= 1;
    if (held.users > 0) return;
    this.#held.delete(held.root);
    const clearing = await held.signs.hangOut("clears");
    await held.sign.takeDown();
    if (!(await held.signs.hangs("holds"))) await Promise.all([...held.placeholders].map(remove));
    await clearing.takeDown();
  }
}

/** Makes what is missing, and lists everything. Also when it rejects, nothing is still being made afterwards. */
async function fill({ root, placeholders }: Held): Promise<string[]> {
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

/** One that an ended server left behind is taken over. */
async function examine(path: string, placeholders: Set<string>): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return make(path, placeholders);
  if (found.isSymbolicLink())
    throw cannotKeep(path, "it is a link, and a link cannot be kept from being replaced");
  if (isPlaceholder(found)) placeholders.add(path);
  return path;
}

async function make(path: string, placeholders: Set<string>): Promise<string | undefined> {
  // Expected: somebody made it in this instant, the folder may not be written, or the disk is full.
  try {
    await mkdir(path, PLACEHOLDER_MODE);
    placeholders.add(path);
    return path;
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "EEXIST") return examine(path, placeholders);
    if (HARMLESS.has(code)) return undefined;
    throw cannotKeep(path, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** What somebody put something into is theirs from then on. */
async function remove(path: string): Promise<void> {
  // Expected: it is gone already, or no longer empty.
  await rmdir(path).catch(async () => {
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined && isPlaceholder(found)) await chmod(path, ORDINARY).catch(() => undefined);
  });
}

function cannotKeep(path: string, reason: string): FlintError {
  const message = `Did not run the command: ${path} cannot be protected from it, because ${reason}. Put what it leads to in its place, work in a folder below, or choose --sandbox read-only (readOnly).`;
  return new FlintError("sandboxUnavailable", message, { path });
}
