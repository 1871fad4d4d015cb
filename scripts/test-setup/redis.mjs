import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CACHE, isExecutable, must, onPath, run } from "./machine.mjs";

const FOLDER = join(CACHE, "redis");
const PROGRAM = join(FOLDER, "redis-server");
/** The server itself is in redis-tools, under another name; the others are libraries it may lack. */
const PACKAGES = ["redis-tools", "libatomic1", "libjemalloc2", "liblzf1"];

/** A Redis server that tests start for themselves, or the address of one that is meant for tests. */
export const redis = {
  name: "redis",
  hint: "set REDIS_URL, or put redis-server or valkey-server on PATH",
  find() {
    // The address may hold a password, so it is neither printed nor written down.
    if (process.env.REDIS_URL) return { path: "REDIS_URL", how: "from the environment" };
    const path = onPath("redis-server", "valkey-server");
    if (path !== undefined) return { path, how: "on PATH" };
    return isExecutable(PROGRAM) ? { path: PROGRAM, how: "private copy" } : undefined;
  },
  /** Takes the Debian packages apart in a folder of our own: no root, no service, nothing installed. */
  fetch() {
    if (!onPath("apt-get") || !onPath("dpkg"))
      throw new Error("only Debian and its relatives are known here");
    const work = `${FOLDER}.${process.pid}`;
    try {
      download(work);
      assemble(work);
      rmSync(FOLDER, { recursive: true, force: true });
      renameSync(work, FOLDER);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    const version = run(PROGRAM, ["--version"]);
    if (!version.ok) throw new Error(`the private copy does not run: ${version.reason}`);
  },
};

/** Downloads with package lists of our own, because the machine's may be missing or closed to us. */
function download(work) {
  for (const folder of ["state/lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const options = [
    ...["-o", `Dir::State=${join(work, "state")}`, "-o", "Dir::State::status=/var/lib/dpkg/status"],
    ...[
      "-o",
      `Dir::Cache=${join(work, "cache")}`,
      "-o",
      "Debug::NoLocking=true",
      "-o",
      "APT::Sandbox::User=",
    ],
  ];
  must("apt-get update", "apt-get", [...options, "update"], { seconds: 120 });
  must("apt-get download", "apt-get", [...options, "download", ...PACKAGES], { seconds: 120, cwd: work });
}

function assemble(work) {
  const archives = readdirSync(work).filter((file) => file.endsWith(".deb"));
  for (const archive of archives) must("dpkg -x", "dpkg", ["-x", join(work, archive), join(work, "files")]);
  for (const leftover of [...archives, "state", "cache"]) rmSync(join(work, leftover), { recursive: true });
  // One binary plays every role by the name it is called with.
  mkdirSync(join(work, "bin"));
  symlinkSync("../files/usr/bin/redis-check-rdb", join(work, "bin/redis-server"));
  writeFileSync(join(work, "redis-server"), LAUNCHER);
  chmodSync(join(work, "redis-server"), 0o755);
}

const LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
libraries=$(echo "$here"/files/usr/lib/*-linux-gnu*)
LD_LIBRARY_PATH="$libraries\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/bin/redis-server" "$@"
`;
