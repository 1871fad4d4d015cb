// Packs what is published, as `npm publish` does, and checks it with publint and attw.
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
  // Packing builds what it packs: it must not depend on an earlier build.
  for (const name of ["cli", "sdk"])
    await rm(join(root, "packages", name, "dist"), { recursive: true, force: true });
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
  // Only the SDK is imported. It is ESM only: Node 10 resolution and `require` are not supported.
  const sdk = tarballs.filter((path) => path.includes("flint-sdk-"));
  run("npx", "attw", ...sdk, "--profile=esm-only");
} finally {
  await rm(folder, { recursive: true, force: true });
}
