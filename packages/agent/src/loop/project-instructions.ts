import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readPlainFile } from "@flint/host/files";
import { truncateMiddle, visibleText } from "../text.ts";
import { pathWithin } from "../tools/files/readable-path.ts";

/** The names of such files, the better known first; the first one that a folder has counts. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];

const ALL_BYTES = 32 * 1024;

/** No folder lies deeper than this, whatever links say. */
const LEVELS = 64;

/** A file of the repository that says how to work in it. */
export interface ProjectInstructions {
  readonly path: string;
  readonly text: string;
}

/**
 * What the repository says to agents: the files of the workspace and of the folders above it up to the root of the
 * repository, the outermost first. Plain files inside the repository only, together no larger than the limit.
 */
export async function projectInstructions(cwd: string, limit = ALL_BYTES): Promise<ProjectInstructions[]> {
  const workspace = await realpath(cwd).catch(() => cwd);
  const folders = await foldersUpToRoot(workspace);
  const root = folders.at(-1) ?? workspace;
  const found: ProjectInstructions[] = [];
  let room = Math.min(limit, ALL_BYTES);
  // What lies closest to the work matters most, so it gets its room first.
  for (const folder of folders) {
    const instructions = await readInstructions(folder, root);
    if (instructions === undefined || room <= 0) continue;
    const text = truncateMiddle(visibleText(instructions.text), room);
    room -= text.length;
    found.unshift({ path: instructions.path, text });
  }
  return found;
}

async function readInstructions(folder: string, root: string): Promise<ProjectInstructions | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    // Expected: no such file, or one that is not to be read: a device, a link that leads out.
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || pathWithin(root, real) === undefined) continue;
    const bytes = await readPlainFile(real, 8 * ALL_BYTES).catch(() => undefined);
    if (bytes !== undefined) return { path, text: bytes.toString("utf8") };
  }
  return undefined;
}

/** The workspace and the folders above it up to the one with `.git`; the workspace alone if there is none. */
async function foldersUpToRoot(workspace: string): Promise<string[]> {
  const folders: string[] = [];
  let folder = workspace;
  for (let level = 0; level < LEVELS; level += 1) {
    folders.push(folder);
    if (await isRepository(join(folder, ".git"))) return folders;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  return [workspace];
}

/** An empty folder of that name is none: sandboxes leave such folders, to keep anybody from making a real one. */
async function isRepository(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return false;
  return found.isFile() || (await lstat(join(path, "HEAD")).catch(() => undefined)) !== undefined;
}
