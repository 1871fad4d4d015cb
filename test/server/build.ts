import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { bundleCommand } from "../../scripts/build/command.mjs";
import { bundleModules } from "../../scripts/build/library.mjs";
import { ROOT } from "../source/files.ts";

/** Programs made from the present sources, to be started with Node. */
export interface BuiltPrograms {
  /** The `flint` command, laid out as it is shipped. */
  readonly flint: string;
  /** A server whose agent does what the script in a prompt says; takes the options of `flint serve`. */
  readonly scriptedServer: string;
}

const CACHE = join(ROOT, "node_modules/.cache/flint/programs");
const ONE_DAY_MS = 86_400_000;

let built: Promise<BuiltPrograms> | undefined;

/** Builds the programs once for this process. What comes out is named by its content, so many may build at once. */
export function buildPrograms(): Promise<BuiltPrograms> {
  built ??= buildAll();
  return built;
}

async function buildAll(): Promise<BuiltPrograms> {
  await mkdir(CACHE, { recursive: true });
  const temporary = await mkdtemp(join(CACHE, "new-"));
  await Promise.all([bundleCommand(ROOT, join(temporary, "dist")), bundleScriptedServer(temporary)]);
  await cp(join(ROOT, "packages/cli/bin"), join(temporary, "bin"), { recursive: true });
  const folder = join(CACHE, await digest(temporary));
  await moveTo(temporary, folder);
  await removeOld(folder);
  return {
    flint: join(folder, "bin/flint.cjs"),
    scriptedServer: join(folder, "scripted-server/scripted-server.mjs"),
  };
}

async function bundleScriptedServer(folder: string): Promise<void> {
  const input = { "scripted-server": "./test/server/scripted-server.ts" };
  await bundleModules(ROOT, input, join(folder, "scripted-server"), { extension: ".mjs" });
}

async function digest(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const path of files.sort()) hash.update(relative(folder, path)).update(await readFile(path));
  return hash.digest("hex").slice(0, 16);
}

/** Makes the folder appear with all its files. A second builder finds it there, with the same content. */
async function moveTo(temporary: string, folder: string): Promise<void> {
  try {
    await rename(temporary, folder);
  } catch {
    // An earlier or a concurrent run has made the same.
    await rm(temporary, { recursive: true, force: true });
  }
}

async function removeOld(present: string): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    const age = Date.now() - ((await exists(path))?.mtimeMs ?? Date.now());
    if (path !== present && age > ONE_DAY_MS) await rm(path, { recursive: true, force: true });
  }
}

async function exists(path: string) {
  try {
    return await stat(path);
  } catch {
    // Nothing there, or gone in the meantime.
    return undefined;
  }
}
