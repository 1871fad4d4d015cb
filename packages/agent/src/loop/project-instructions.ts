import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readPlainFile } from "@flint/host/files";
import { truncateMiddle, visibleText } from "../text.ts";
import { pathWithin } from "../tools/files/readable-path.ts";

/** File names in order of preference; the first one in a folder is used. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];

const MAX_BYTES = 32 * 1024;

/** The deepest folder that is searched. */
const MAX_LEVELS = 64;

/** A file of the repository with instructions for agents. */
export interface ProjectInstructions {
  readonly path: string;
  readonly text: string;
}

/**
 * The repository's instructions for agents: the files of the workspace and of the folders above it up to the root of the
 * repository, the outermost first. Only plain files inside the repository, together no larger than the limit.
 */
export async function projectInstructions(cwd: string, limit = MAX_BYTES): Promise<ProjectInstructions[]> {
  const workspace = await realpath(cwd).catch(() => cwd);
  const folders = await foldersUpToRoot(workspace);
  const root = folders.at(-1) ?? workspace;
  const found: ProjectInstructions[] = [];
  let room = Math.min(limit, MAX_BYTES);
  // The closest files matter most, so they get their share first.
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
    // Expected: no such file, or one that must not be read: a device, a link that leads out of the repository.
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || pathWithin(root, real) === undefined) continue;
    const bytes = await readPlainFile(real, 8 * MAX_BYTES).catch(() => undefined);
    if (bytes !== undefined) return { path, text: bytes.toString("utf8") };
  }
  return undefined;
}

/** The workspace and the folders above it up to the one with `.git`; the workspace alone if there is none. */
async function foldersUpToRoot(workspace: string): Promise<string[]> {
  const folders: string[] = [];
  let folder = workspace;
  for (let level = 0; level < MAX_LEVELS; level += 1) {
    folders.push(folder);
    if (await isRepository(join(folder, ".git"))) return folders;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  return [workspace];
}

/** An empty `.git` folder does not count: sandboxes leave such folders so that no real one can be created. */
async function isRepository(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return false;
  return found.isFile() || (await lstat(join(path, "HEAD")).catch(() => undefined)) !== undefined;
}
