import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type BuildResult, build, type OutputFile, stop } from "esbuild";
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
  const { outputFiles } = await bundle();
  // The bundler leaves a process behind for further builds; there are none.
  await stop();
  const folder = join(CACHE, digest(outputFiles));
  if (!(await exists(folder))) await write(folder, outputFiles);
  await removeOld(folder);
  return {
    flint: join(folder, "bin/flint.js"),
    scriptedServer: join(folder, "dist/scripted-server.js"),
  };
}

function bundle(): Promise<BuildResult<{ write: false }>> {
  return build({
    absWorkingDir: ROOT,
    entryPoints: {
      flint: "packages/server/src/bin/flint.ts",
      "scripted-server": "test/server/scripted-server.ts",
    },
    bundle: true,
    write: false,
    outdir: join(CACHE, "dist"),
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@flint/source"],
    sourcemap: "linked",
    logLevel: "error",
  });
}

function digest(files: readonly OutputFile[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file.path).update(file.contents);
  return hash.digest("hex").slice(0, 16);
}

/** Makes the folder appear with all its files. Whoever comes second finds it there, with the same content. */
async function write(folder: string, files: readonly OutputFile[]): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const temporary = await mkdtemp(join(CACHE, "new-"));
  for (const file of files) {
    const path = join(temporary, relative(CACHE, file.path));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, file.contents);
  }
  await cp(join(ROOT, "packages/server/bin"), join(temporary, "bin"), { recursive: true });
  await writeFile(join(temporary, "package.json"), '{ "type": "module" }\n');
  try {
    await rename(temporary, folder);
  } catch {
    // Somebody else was quicker.
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
