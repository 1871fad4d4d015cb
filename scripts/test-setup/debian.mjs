import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CACHE, fillFolder } from "./cache.mjs";
import { must, onPath, run } from "./machine.mjs";

/** Long enough for a slow mirror, short enough to notice that there is none. */
const NETWORK = ["-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=2"];

/** Package lists of our own for this run, because the machine's may be missing, old, or closed to us. */
let lists;

/** Returns the path of a program that was unpacked from Debian packages. */
export function debianProgram(name) {
  return join(CACHE, "debian", release(), name, "bin", name);
}

/**
 * Takes Debian packages, and what they depend on and this machine lacks, apart in a folder of the cache: no root, no
 * service, nothing installed. `program` is the path of the program in them; it is started by a script with the
 * given further lines, which may use `$here`, the folder that holds the unpacked `files`.
 */
export async function fetchDebian(name, { packages, program, script = [], finish = () => {} }) {
  if (!onPath("apt-get") || !onPath("dpkg")) throw new Error("only Debian and its relatives are known here");
  lists ??= updateLists();
  const options = await lists;
  await fillFolder(join(CACHE, "debian", release(), name), async (work) => {
    const requested = await withDependencies(packages, options);
    await must(`apt-get download ${name}`, "apt-get", [...options, "download", ...requested], {
      seconds: 300,
      cwd: work,
    });
    for (const archive of readdirSync(work).filter((file) => file.endsWith(".deb"))) {
      await must("dpkg -x", "dpkg", ["-x", archive, "files"], { cwd: work, seconds: 120 });
      rmSync(join(work, archive));
    }
    finish(work);
    writeLauncher(work, name, program, script);
  });
}

/** Removes what only this run needed. */
export async function forgetLists() {
  const options = await lists?.catch(() => undefined);
  if (options !== undefined) rmSync(listsFolder(), { recursive: true, force: true });
}

const listsFolder = () => join(CACHE, `debian-lists.part-${process.pid}`);

async function updateLists() {
  const folder = listsFolder();
  for (const each of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(folder, each), { recursive: true });
  const settings = [
    `Dir::State=${join(folder, "state")}`,
    "Dir::State::status=/var/lib/dpkg/status",
    `Dir::Cache=${join(folder, "cache")}`,
    "Debug::NoLocking=true",
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
  ];
  const options = ["--quiet", ...settings.flatMap((setting) => ["-o", setting]), ...NETWORK];
  // A source that cannot be reached need not be the one that is needed.
  const updated = await run("apt-get", [...options, "update"], { seconds: 180 });
  if (readdirSync(join(folder, "state/lists")).every((name) => !name.includes("_Packages")))
    throw new Error(`apt-get update failed: ${updated.reason}`);
  return options;
}

/** The names of the packages, and of all that would have to be installed with them on this machine. */
async function withDependencies(packages, options) {
  const install = ["install", "--yes", "--no-install-recommends", "--print-uris", ...packages];
  const printed = await must("apt-get install --print-uris", "apt-get", [...options, ...install], {
    seconds: 60,
  });
  const missing = [...printed.matchAll(/^'\S+' ([^_\s]+)_\S+\.deb /gm)].map(([, name]) => name);
  return [...new Set([...packages, ...missing])];
}

/** A link, or a script that knows its own place, so that the folder may be moved and read by others. */
function writeLauncher(work, name, program, script) {
  mkdirSync(join(work, "bin"));
  const launcher = join(work, "bin", name);
  const libraries = libraryFolders(work).map((folder) => `$here/${folder}`);
  if (libraries.length === 0 && script.length === 0) return symlinkSync(`../files/${program}`, launcher);
  const own = `export LD_LIBRARY_PATH="${libraries.join(":")}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`;
  const lines = [
    "#!/bin/sh",
    `here=$\{0%/*}/..`,
    ...(libraries.length === 0 ? [] : [own]),
    ...script,
    `exec "$here/files/${program}" "$@"`,
  ];
  writeFileSync(launcher, `${lines.join("\n")}\n`);
  chmodSync(launcher, 0o755);
}

/** Returns the folders of the unpacked libraries; some packages keep theirs a level deeper. */
function libraryFolders(work) {
  const hasLibrary = (folder) => readdirSync(join(work, folder)).some((name) => /^lib.*\.so\b/.test(name));
  return ["files/usr/lib", "files/lib"]
    .filter((folder) => existsSync(join(work, folder)))
    .flatMap((folder) => [folder, ...foldersIn(work, folder)])
    .flatMap((folder) => [folder, ...foldersIn(work, folder)])
    .filter((folder, at, all) => all.indexOf(folder) === at && hasLibrary(folder));
}

function foldersIn(work, folder) {
  const entries = readdirSync(join(work, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** Programs of one release do not run on another. */
function release() {
  const file = "/etc/os-release";
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const value = (key) => new RegExp(`^${key}="?([\\w.]+)`, "m").exec(text)?.[1] ?? "unknown";
  return `${value("ID")}-${value("VERSION_ID")}-${process.arch}`;
}
