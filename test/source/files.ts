import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that holds the workspace. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Every source file under a folder, which may be missing: its path from the root, with slashes, to its text. */
export function readSources(root: string, folder: string): Map<string, string> {
  const sources = new Map<string, string>();
  if (!existsSync(join(root, folder))) return sources;
  for (const path of sourceFiles(join(root, folder))) {
    sources.set(relative(root, path).split(sep).join("/"), readFileSync(path, "utf8"));
  }
  return sources;
}

/** The names of the packages of the workspace, in order. */
export function packageNames(root: string): string[] {
  return readdirSync(join(root, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function sourceFiles(folder: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name === "dist") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...sourceFiles(path));
    else if (/\.(tsx?|mjs)$/.test(entry.name) && !entry.name.endsWith(".d.ts")) found.push(path);
  }
  return found.sort();
}
