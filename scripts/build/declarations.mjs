// Writes the declarations that @flint/sdk is published with: its own, and those of the packages bundled into it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const types = join(root, "packages/sdk/dist/types");

await rm(types, { recursive: true, force: true });
const tsc = join(root, "node_modules/typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "packages/sdk/tsconfig.json")], {
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);

// A user of the package has neither our other packages nor .ts sources, so imports name the declarations beside them.
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
  const entry = join(types, name, "src", rest ?? "", "index.d.ts");
  if (!existsSync(entry))
    throw new Error(`${relative(root, path)} uses ${specifier}, which has no declarations at ${entry}`);
  return relativeName(path, entry.replace(/\.d\.ts$/, ".js"));
}

function relativeName(from, to) {
  const name = relative(dirname(from), to).split(sep).join("/");
  return name.startsWith(".") ? name : `./${name}`;
}
