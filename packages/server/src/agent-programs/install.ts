import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentDescriptor } from "@flint/drivers";
import { lockFolder } from "@flint/host/lock";
import { FlintError, isRecord, mintId } from "@flint/protocol";
import { findProgram, outsideSearchPath } from "../config/programs.ts";
import {
  type InstalledAgent,
  installedAgent,
  installedRecord,
  programsFolder,
  recordPath,
} from "./installed.ts";

/** A package, as a descriptor pins it. */
type AgentPackage = NonNullable<AgentDescriptor["package"]>;

/** Runs a program to its end. */
export type RunInstaller = (
  command: readonly string[],
  folder: string,
) => Promise<{ readonly exitCode: number; readonly output: string }>;

/** Install scripts do not run: agents are programs that need none. */
const NPM_FLAGS = [
  ...["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"],
  ...["--loglevel=error", "--fetch-timeout=60000", "--fetch-retries=1", "--engine-strict=false"],
];

/** npm is a script for the `node` that PATH names. */
const WITH_PATH = 'PATH=$0; export PATH; exec "$@"';

const MAX_REASON = 600;

/**
 * Installs an agent in the version that Flint is tested with, into a folder of its own. It is there complete and checked,
 * or not at all; an installed version is replaced. Throws a FlintError that explains what to do.
 */
export async function installAgent(
  { id, displayName, package: pinned }: AgentDescriptor,
  run: RunInstaller,
): Promise<InstalledAgent> {
  if (pinned === undefined) {
    throw failure(`Flint has no package of ${displayName} for ${process.platform}-${process.arch}.`, id);
  }
  // Not one that an agent put among the programs of a project.
  const path = outsideSearchPath([process.cwd()]);
  const npm = await findProgram("npm", path);
  if (npm === undefined) throw failure("npm was not found on PATH. It comes with Node.js.", id);
  const folder = programsFolder();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const attempt = await lockFolder(folder, "install.lock");
  if (!("lock" in attempt)) {
    throw failure(`Another installation is running (process ${attempt.owner ?? "unknown"}).`, id);
  }
  const work = join(folder, `.${id}-${mintId()}`);
  try {
    await removeLeftovers(folder);
    await mkdir(work, { mode: 0o700 });
    await fetchPackage(["/bin/sh", "-c", WITH_PATH, path, npm], pinned, work, run, id);
    await checkIntegrity(pinned, work, id);
    await chmod(join(work, "node_modules", pinned.file), 0o755).catch(() => {
      throw failure(`${pinned.name}@${pinned.version} has no ${pinned.file}.`, id);
    });
    await writeFile(recordPath(work), installedRecord(pinned.version, pinned.file), { mode: 0o600 });
    await rm(join(folder, id), { recursive: true, force: true });
    await rename(work, join(folder, id));
  } finally {
    await rm(work, { recursive: true, force: true });
    await attempt.lock.release();
  }
  const installed = await installedAgent(id);
  if (installed === undefined) throw failure(`${displayName} was installed, but cannot be run.`, id);
  return installed;
}

/** Removes an agent that Flint installed; false if it did not. */
export async function removeAgent(id: string): Promise<boolean> {
  if ((await installedAgent(id)) === undefined) return false;
  await rm(join(programsFolder(), id), { recursive: true, force: true });
  return true;
}

/** Deletes what installations left that were killed. Only for the owner of the lock. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith("."));
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

async function fetchPackage(
  npm: readonly string[],
  { name, version }: AgentPackage,
  work: string,
  run: RunInstaller,
  id: string,
): Promise<void> {
  const specifier = `${name}@${version}`;
  const { exitCode, output } = await run([...npm, ...NPM_FLAGS, "--prefix", work, specifier], work);
  if (exitCode === 0) return;
  const reason = output.trim().slice(0, MAX_REASON);
  throw failure(
    `npm could not install ${specifier} (exit code ${exitCode}). Check with npm ping that it reaches its registry.\n${reason}`,
    id,
  );
}

/** npm checked each archive against the hash that it recorded; that has to be the one that Flint knows. */
async function checkIntegrity(pinned: AgentPackage, work: string, id: string): Promise<void> {
  const recorded = await recordedHashes(join(work, "node_modules", ".package-lock.json"));
  for (const [name, expected] of Object.entries(pinned.integrity)) {
    const found = recorded.get(`node_modules/${name}`);
    if (found === expected) continue;
    const what = found === undefined ? "is missing" : `has the hash ${found}, not ${expected}`;
    throw failure(
      `${name} of ${pinned.name}@${pinned.version} ${what}, so it was not installed. Check the registry that npm uses (npm config get registry).`,
      id,
    );
  }
}

async function recordedHashes(path: string): Promise<ReadonlyMap<string, unknown>> {
  const text = await readFile(path, "utf8").catch(() => "{}");
  const lock: unknown = JSON.parse(text);
  const packages = isRecord(lock) && isRecord(lock.packages) ? lock.packages : {};
  return new Map(
    Object.entries(packages).map(([name, entry]) => [name, isRecord(entry) ? entry.integrity : undefined]),
  );
}

function failure(message: string, agent: string): FlintError {
  return new FlintError("agentFailed", message, { agent });
}
