import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The cache of this clone; `npm ci` removes it. */
const CLONE = fileURLToPath(new URL("../../node_modules/.cache/flint/", import.meta.url));

/** The results of the set-up, by name, for the tests to read. */
export const FOUND = join(CLONE, "found.json");

/** The folder of everything that is fetched, for all clones of this user. Removing it is always safe. */
export const CACHE = cacheFolder(process.env, CLONE);

/** The cache that the environment asks for; that of the clone where the user's own cannot be written. */
function cacheFolder({ FLINT_TEST_CACHE: chosen, XDG_CACHE_HOME: caches, HOME: home }, fallback) {
  if (chosen) return chosen;
  const shared = caches || join(home || homedir(), ".cache");
  const folder = join(shared, "flint-tests");
  // A home that is only a name, as that of a service, is not made.
  return existsSync(dirname(shared)) && isWritable(folder) ? folder : fallback;
}

/** Fills a folder of the cache. It gets its name when it is complete, so that it is never seen half filled. */
export async function fillFolder(folder, fill) {
  const work = `${folder}.part-${process.pid}`;
  removeLeftovers(folder);
  mkdirSync(work, { recursive: true });
  try {
    await fill(work);
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
  } catch (error) {
    // Another process may have been faster, with the same content.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Removes files left by set-ups that were killed while they fetched this folder. */
function removeLeftovers(folder) {
  const parent = join(folder, "..");
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (!path.startsWith(`${folder}.part-`)) continue;
    if (!isRunning(Number(path.slice(`${folder}.part-`.length))))
      rmSync(path, { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM"; // Alive, but of another user.
  }
}

function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false; // Read-only, or owned by another user.
  }
}
