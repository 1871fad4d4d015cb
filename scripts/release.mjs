// npm run release -- VERSION: sets the version of every package and closes the Unreleased section of the changelog.
import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { releasedChangelog, releasedManifest } from "./release/version.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const [version = ""] = process.argv.slice(2);

async function edit(path, change) {
  const file = join(root, path);
  await writeFile(file, change(await readFile(file, "utf8")));
}

if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
  process.stderr.write("Give the new version, for example: npm run release -- 0.2.0\n");
  process.exit(2);
}
const today = new Date().toISOString().slice(0, 10);
await edit("CHANGELOG.md", (text) => releasedChangelog(text, version, today));
const packages = (await readdir(join(root, "packages"))).map((name) => `packages/${name}/package.json`);
for (const path of ["package.json", ...packages]) await edit(path, (text) => releasedManifest(text, version));
const { status } = spawnSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);
process.stdout.write(
  `Read the diff, then: git commit -am "chore: release ${version}" && git tag v${version} && git push --tags\n`,
);
