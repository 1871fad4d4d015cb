// Packs what is published and has publint and attw look at it, as npm would hand it out.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "flint-pack-"));

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) process.exitCode = 1;
}

try {
  run(process.execPath, "scripts/build.mjs");
  run(
    "npm",
    "pack",
    "--silent",
    "--workspace=flint",
    "--workspace=@flint/sdk",
    `--pack-destination=${folder}`,
  );
  const tarballs = (await readdir(folder)).map((name) => join(folder, name));
  for (const tarball of tarballs) run("npx", "publint", "run", tarball, "--strict");
  // Only the SDK is imported. It is ESM: what resolves packages as Node 10 and `require` did is not served.
  const sdk = tarballs.filter((path) => path.includes("flint-sdk-"));
  run("npx", "attw", ...sdk, "--profile=esm-only");
} finally {
  await rm(folder, { recursive: true, force: true });
}
