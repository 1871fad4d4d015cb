import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A program that some tests need.
 * @typedef {object} Part
 * @property {string} name
 * @property {() => Found | undefined} find looks without changing anything
 * @property {() => void} [fetch] gets it without touching the system, or throws with the reason
 * @property {boolean} [large] fetched only when asked for by name
 * @property {string} [debian] the Debian package to install where installing is allowed
 * @property {string} hint how a person gets it
 *
 * @typedef {{ path: string, how: string }} Found
 */

/** Everything that is fetched lives here; removing it is always safe. */
export const CACHE = fileURLToPath(new URL("../../node_modules/.cache/flint/", import.meta.url));

/** The first of the given programs that is on PATH, or undefined. */
export function onPath(...names) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Whether a file is there and may be run. */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not ours to run: both mean no.
  }
}

/** Runs a program to its end; `ok` is false when it cannot start, fails or takes too long. */
export function run(command, args, { seconds = 10, ...options } = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: seconds * 1000, ...options });
  const output = `${result.stdout ?? ""}${result.stderr ?? ""}`.trim();
  const reason = result.error?.message ?? output.split("\n").at(-1) ?? "";
  return { ok: result.status === 0, output, reason };
}

/** Runs a program that has to succeed; the error says what it was for. */
export function must(purpose, command, args, options) {
  const result = run(command, args, options);
  if (!result.ok) throw new Error(`${purpose} failed: ${result.reason || command}`);
  return result.output;
}

/** The same for what comes over the network, which may fail once and work a moment later. */
export function mustFetch(purpose, command, args, options) {
  if (!run(command, args, options).ok) must(purpose, command, args, options);
}

/** Whether system packages may be installed: only by root, and only where that was asked for. */
export function mayInstall(environment = process.env, user = process.getuid?.()) {
  return user === 0 && (environment.CI === "true" || environment.FLINT_TEST_INSTALL === "1");
}

/** Installs a Debian package for the whole machine. */
export function installDebian(name) {
  if (!onPath("apt-get")) throw new Error("this machine has no apt-get");
  const options = { seconds: 300, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const install = ["install", "--yes", "--no-install-recommends", name];
  if (run("apt-get", install, options).ok) return;
  // The package lists may be missing or old, as they are in a fresh container.
  must("apt-get update", "apt-get", ["update"], options);
  must(`apt-get install ${name}`, "apt-get", install, options);
}

/** Installs an npm package into a folder of its own in the cache, without running its scripts. */
export function installNpm(folder, specifier) {
  const flags = [
    "--no-save",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--loglevel=error",
  ];
  const install = ["install", "--prefix", join(CACHE, folder), ...flags, specifier];
  mustFetch(`npm install ${specifier}`, "npm", install, { seconds: 600 });
}
