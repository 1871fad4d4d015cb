// Makes the declarations that @flint/sdk is published with: its own, and those of the packages that are part of it.
import { spawnSync } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const types = join(root, "packages/sdk/dist/types");

await rm(types, { recursive: true, force: true });
const tsc = join(root, "node_modules/typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "packages/sdk/tsconfig.json")], {
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);

// Nobody who installs the package has ours, nor sources to find by the name of a .ts file.
const SPECIFIER = /(\bfrom |\bimport\(|\bimport )"([^"]+)"/g;
for (const entry of await readdir(types, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  const text = await readFile(path, "utf8");
  await writeFile(
    path,
    text.replaceAll(SPECIFIER, (_, before, name) => `${before}"${publishedName(path, name)}"`),
  );
}

function publishedName(path, specifier) {
  if (specifier.startsWith(".")) return specifier.replace(/\.ts$/, ".js");
  const [, name, rest] = /^@flint\/([^/]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === undefined) return specifier;
  if (rest !== undefined)
    throw new Error(`${relative(root, path)} uses ${specifier}; only whole packages can be published`);
  return posix.join(relative(dirname(path), types) || ".", name, "src/index.js");
}
