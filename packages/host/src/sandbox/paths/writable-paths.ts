import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import type { WritablePath } from "@flint/core/ports";
import { isInside } from "../mechanisms/binds.ts";
import { isProtectedName } from "./protected-names.ts";

/** A folder that a command wants to write beyond its policy. */
export interface WantedPath {
  readonly path: string;
  readonly workspace: string;
  /** What a leading `~` stands for. */
  readonly home: string | undefined;
}

/** Folders of the system whose content is not files, or with which a command could reach programs outside. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev", "/run", "/boot"];

/** Where agents keep settings and plugins in folders that other programs use as well. */
const SHARED_PARENTS: ReadonlySet<string> = new Set([".config", "share", "state"]);
const AGENT_NAMES: ReadonlySet<string> = new Set(["opencode", "goose", "gemini", "claude", "codex", "flint"]);

/** Resolves a folder for one command, or explains why no approval opens it. Never rejects. */
export async function resolveWritable(
  { path, workspace, home }: WantedPath,
  isGuarded: (path: string) => Promise<boolean>,
): Promise<WritablePath> {
  const named = path.startsWith("~/") && home !== undefined ? join(home, path.slice(2)) : path;
  if (!isAbsolute(named) || named.includes("\0")) return { problem: `${path} is not an absolute path` };
  // Expected: nothing is there, or it may not be looked at.
  const real = await realpath(named).catch(() => undefined);
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (real === undefined || found === undefined)
    return { problem: `${named} does not exist; name a folder that does` };
  if (!found.isDirectory()) return { problem: `${real} is not a folder; name the folder it is in` };
  const work = await realpath(workspace).catch(() => workspace);
  if (work !== real && isInside(work, real)) return { problem: `${real} contains the workspace` };
  const problem = (await isGuarded(real)) ? "it belongs to Flint" : problemOf(real);
  return problem === undefined ? { path: real } : { problem: `${real} cannot be opened: ${problem}` };
}

function problemOf(path: string): string | undefined {
  if (path === sep || SYSTEM_FOLDERS.some((folder) => isInside(path, folder)))
    return "it belongs to the system";
  const names = path.split(sep).slice(1);
  const name = names.find(isProtectedName);
  if (name !== undefined) return `${name} configures agents, editors, shells or version control`;
  const isAgents = names.some(
    (each, at) => SHARED_PARENTS.has(names[at - 1] ?? "") && AGENT_NAMES.has(each.toLowerCase()),
  );
  return isAgents ? "agents keep their settings there" : undefined;
}
