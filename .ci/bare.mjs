// Runs chosen tests as on a bare machine: an empty home, nothing optional on PATH, and another user if this one is root;
// once with bubblewrap and once without. Optional programs are those that the set-up of `npm test` found or fetched.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { CACHE, FOUND } from "../scripts/test-setup/cache.mjs";
import { PARTS } from "../scripts/test-setup/parts.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const NOBODY = 65_534;

/** The sandbox, the command, what outlives a server, the fault cases, and each real agent once. */
const TESTS = [
  "packages/host/src/sandbox",
  "packages/host/src/network",
  "packages/drivers/src/same-events.test.ts",
  "packages/drivers/src/sandbox-policy.test.ts",
  "test/e2e/cli.test.ts",
  "test/e2e/exec.test.ts",
  "test/e2e/native-orphans.test.ts",
  "test/torture/torture.long.test.ts",
];

/** The parts that these tests use. */
const NEEDED = ["bwrap", "git", "curl", "claude", "codex"];

const FORMS = [
  ["with bubblewrap", NEEDED],
  ["without bubblewrap", NEEDED.filter((name) => name !== "bwrap")],
];

/** What a bare Debian does not have: Node, the parts of the set-up by all their names, and what Flint uses if it is there. */
const OPTIONAL = new RegExp(
  `^(${[
    ...["node", "nodejs", "npm", "npx", "corepack", "rg"],
    ...["bwrap", "git.*", "tmux", "curl", "ssh.*", "scp", "sftp", "pip.*", "python.*"],
    ...["chromium.*", "google-chrome.*", "redis-.*", "valkey-.*"],
    ...["claude", "claude-agent-acp", "codex", "codex-acp", "acpx", "opencode", "gemini"],
  ].join("|")})$`,
);

const found = JSON.parse(readFileSync(FOUND, "utf8"));
const isRoot = process.getuid?.() === 0;
const stage = mkdtempSync("/var/tmp/flint-bare-");
try {
  chmodSync(stage, 0o755);
  copyClone();
  linkPrograms();
  copyParts();
  const passed = FORMS.filter(([title, parts]) => runTests(title, parts));
  process.exitCode = passed.length === FORMS.length ? 0 : 1;
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** A copy of the clone that the other user may read and write. */
function copyClone() {
  const isCopied = (path) => ![".git", "node_modules/.cache"].includes(relative(ROOT, path));
  cpSync(ROOT, join(stage, "flint"), { recursive: true, filter: isCopied, verbatimSymlinks: true });
  must("chmod", "-R", "a+rX", join(stage, "flint"));
  if (isRoot) must("chown", "-R", String(NOBODY), join(stage, "flint"));
}

/** What every Debian has, and this Node: a copy, because it may lie where only this user may look. */
function linkPrograms() {
  const bin = join(stage, "bin");
  mkdirSync(bin);
  for (const folder of ["/usr/sbin", "/usr/bin", "/sbin", "/bin"])
    for (const name of readdirSync(folder))
      if (!OPTIONAL.test(name) && !existsSync(join(bin, name)))
        symlinkSync(join(folder, name), join(bin, name));
  cpSync(process.execPath, join(bin, "node"));
}

/** The needed parts that were fetched, as a cache that the other user may only read. */
function copyParts() {
  for (const name of NEEDED) {
    if (found[name] === undefined)
      throw new Error(`npm test has not found ${name}, without which this proves little`);
    const place = relative(CACHE, found[name].path).split("/");
    // npm/NAME-VERSION, debian/RELEASE/NAME, or not in the cache at all.
    const folder = place.slice(0, place[0] === "debian" ? 3 : 2).join("/");
    if (place[0] === "..") continue;
    cpSync(join(CACHE, folder), join(stage, "cache", folder), { recursive: true, verbatimSymlinks: true });
  }
  must("chmod", "-R", "a+rX", join(stage, "cache"));
}

/** The parts that this machine has of its own, and no others. */
function linkParts(names) {
  const folder = mkdtempSync(join(stage, "parts-"));
  chmodSync(folder, 0o755);
  const isOwn = (name) => relative(CACHE, found[name].path).startsWith("..");
  for (const name of names.filter(isOwn)) symlinkSync(found[name].path, join(folder, name));
  return folder;
}

/** Whether the tests passed. */
function runTests(title, required) {
  process.stdout.write(`\n-- ${title}\n`);
  const home = mkdtempSync(join(stage, "home-"));
  if (isRoot) must("chown", String(NOBODY), home);
  const without = PARTS.map(({ name }) => name).filter((name) => !required.includes(name));
  const options = {
    cwd: join(stage, "flint"),
    stdio: "inherit",
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    env: {
      HOME: home,
      PATH: `${linkParts(required)}:${join(stage, "bin")}`,
      CI: "true",
      FLINT_TEST_CACHE: join(stage, "cache"),
      FLINT_TEST_REQUIRE: required.join(),
      FLINT_TEST_WITHOUT: without.join(),
    },
  };
  const node = join(stage, "bin/node");
  return [["scripts/test-setup.mjs"], ["node_modules/vitest/vitest.mjs", "run", ...TESTS]].every(
    (args) => spawnSync(node, args, options).status === 0,
  );
}

function must(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed`);
}
