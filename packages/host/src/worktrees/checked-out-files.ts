import { randomUUID } from "node:crypto";
import { chmod, constants, copyFile, lstat, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { isFolder, targetExists } from "../files/path-kinds.ts";
import { readTextNoFollow } from "../files/regular-file.ts";
import type { GitCommand } from "../git/git-command.ts";
import { makeFoldersIn } from "./included-files.ts";
import { gitFoldersOf, type WorktreeRepository } from "./worktree-repository.ts";

/** A worktree whose index is what its files are to become. */
export interface FilesRequest {
  readonly top: string;
  readonly repository: WorktreeRepository;
  readonly environment: Readonly<Record<string, string>>;
}

const CHECK_OUT = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false checkout-index --all --force";
const TEN_MINUTES = 600_000;

/**
 * Writes the files of a worktree as its index has them. Runs in the sandbox: a filter that the user has configured may be
 * a program of the worktree, which an agent has written. It can write the files, but neither what is beside the worktree nor
 * the file that says which repository it is of.
 */
export async function writeFiles(
  sandbox: Pick<Sandbox, "launch">,
  { top, repository, environment }: FilesRequest,
): Promise<void> {
  let printed = "";
  const { exitCode } = await sandbox.launch({
    command: ["/bin/sh", "-c", CHECK_OUT],
    cwd: top,
    workspace: top,
    // Not by the policy: at the top of a writable workspace, the settings of tools cannot be written.
    policy: { type: "readOnly" },
    ownPaths: [top],
    readOnlyPaths: [join(top, ".git"), ...(await gitFoldersOf(repository))],
    environment,
    timeoutMs: TEN_MINUTES,
    onOutput: (text) => {
      printed = `${printed}${text}`.slice(-2000);
    },
  });
  if (exitCode === 0) return;
  const reason = printed.trim() || `exit ${exitCode}`;
  throw new FlintError("internalError", `The files of the task cannot be checked out: ${reason}`);
}

/** Limit for the content of Git LFS in one worktree. */
const MAX_LFS_BYTES = 16 * 1024 ** 3;
const MAX_POINTER = 1024;
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:(?<id>[0-9a-f]{64})\nsize (?<size>\d+)\n$/;
const HASH = 'git -c core.fsmonitor=false -c lfs.storage="$2" hash-object --path="$1" -- "$1"';

/** A worktree whose files of Git LFS are pointers. */
export interface LfsRequest extends FilesRequest {
  /** Git in the worktree. */
  readonly git: GitCommand;
  /** A folder beside the worktree for what the filter of Git LFS writes. */
  scratch(): Promise<string>;
}

/**
 * Puts the content that the repository has of Git LFS in the place of its pointers, so that files are real. No filter runs
 * for that outside of the sandbox, and nothing is fetched. Only where the filter makes the same pointers again, because
 * otherwise every file would look changed. Returns what the user should know.
 */
export async function fillLfsFiles(sandbox: Pick<Sandbox, "launch">, request: LfsRequest): Promise<string[]> {
  const { git, top, repository } = request;
  const objects = join(repository.commonDir, "lfs", "objects");
  if (!(await isFolder(objects))) return [];
  const names = await git.run(["ls-files", "-z"]);
  const attributes = (await git.run(["check-attr", "--cached", "-z", "--stdin", "filter"], names)).split(
    "\0",
  );
  let [bytes, left, isProven] = [0, 0, false];
  for (const [index, path = ""] of attributes.entries()) {
    if (index % 3 !== 0 || attributes[index + 2] !== "lfs") continue;
    const pointer = await readPointer(top, path);
    if (pointer === undefined) continue;
    const { id, size } = pointer;
    const object = join(objects, id.slice(0, 2), id.slice(2, 4), id);
    const stored = await lstat(object).catch(() => undefined);
    const isThere = stored?.isFile() === true && stored.size === size && bytes + size <= MAX_LFS_BYTES;
    if (!isThere) {
      left += 1;
      continue;
    }
    await replaceFile(join(top, path), object, pointer.mode);
    if (!isProven && !(await isSamePointer(sandbox, request, path))) {
      await restorePointer(top, path, pointer);
      return [
        "The files of Git LFS are pointers, because its filter does not work here. Run git lfs install.",
      ];
    }
    isProven = true;
    bytes += size;
  }
  if (left === 0) return [];
  return [
    `Files of Git LFS that are pointers, because the repository lacks their content: ${left}. Run git lfs fetch.`,
  ];
}

interface Pointer {
  readonly id: string;
  readonly size: number;
  readonly text: string;
  readonly mode: number;
}

/** The pointer of Git LFS in the place of a file; undefined if it is anything else. */
async function readPointer(top: string, path: string): Promise<Pointer | undefined> {
  if (!(await makeFoldersIn(top, dirname(path)))) return undefined;
  const found = await lstat(join(top, path)).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_POINTER) return undefined;
  const text = await readTextNoFollow(join(top, path), MAX_POINTER);
  const { id, size } = POINTER.exec(text ?? "")?.groups ?? {};
  if (text === undefined || id === undefined) return undefined;
  return { id, size: Number(size), text, mode: found.mode & 0o777 };
}

/** A copy in the place of a file, as a clone where the file system has them. */
async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const next = `${path}.${randomUUID()}`;
  await copyFile(content, next, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await chmod(next, mode);
  await rename(next, path);
}

/** Puts a pointer back, never through a link: the filter may have put one in the place of the file or of a folder. */
async function restorePointer(top: string, path: string, { text, mode }: Pointer): Promise<void> {
  if (!(await makeFoldersIn(top, dirname(path)))) return;
  const next = `${join(top, path)}.${randomUUID()}`;
  await writeFile(next, text, { mode, flag: "wx" });
  await rm(join(top, path), { recursive: true, force: true });
  await rename(next, join(top, path));
}

/** Reports whether git makes the content in the index of a file. The filter runs in the sandbox. */
async function isSamePointer(
  sandbox: Pick<Sandbox, "launch">,
  { git, top, repository, environment, ...request }: LfsRequest,
  path: string,
): Promise<boolean> {
  let printed = "";
  const scratch = await request.scratch();
  const storage = join(scratch, "lfs");
  const { exitCode } = await sandbox.launch({
    command: ["/bin/sh", "-c", HASH, "sh", path, storage],
    cwd: top,
    workspace: top,
    policy: { type: "workspaceWrite", writableRoots: [scratch] },
    readOnlyPaths: await gitFoldersOf(repository),
    environment,
    timeoutMs: TEN_MINUTES,
    onOutput: (text, stream) => {
      if (stream === "stdout") printed = `${printed}${text}`.slice(-1000);
    },
  });
  await rm(storage, { recursive: true, force: true });
  const indexed = await git.run(["ls-files", "--stage", "-z", "--", `:(literal)${path}`]);
  return exitCode === 0 && printed.trim() === indexed.split(" ")[1];
}

/**
 * Fills the submodules from the user's checkout, without the network. One that is not checked out there stays empty, as
 * it is for the user.
 */
export async function updateSubmodules(
  git: GitCommand,
  { top }: WorktreeRepository,
  worktree: string,
): Promise<void> {
  const file = join(worktree, ".gitmodules");
  // Expected: there is none. A link may lead anywhere.
  if ((await lstat(file).catch(() => undefined))?.isFile() !== true) return;
  const listed = await git.attempt(["config", "--file", file, "--get-regexp", "^submodule\\..*\\.path$"]);
  if (listed.exitCode !== 0) return;
  // Not in the sandbox, so without the filters of the user, which may be programs of the submodule.
  const local = git.with({ GIT_ALLOW_PROTOCOL: "file" }).withoutFilters();
  for (const line of listed.stdout.trim().split("\n")) {
    const [, name = "", path = ""] = /^submodule\.(.+)\.path (.+)$/.exec(line) ?? [];
    const source = join(top, path);
    // The list may be that of an agent's commit: nothing outside of the user's checkout is a submodule of it, and a name
    // with an equals sign would set something else, such as a command.
    const isName = /^\w[\w./+-]*$/.test(name);
    if (!isName || !source.startsWith(`${top}/`) || !(await targetExists(join(source, ".git")))) continue;
    // A filter may have put a repository with settings of its own there.
    if (!(await isEmptyFolder(worktree, path))) continue;
    // Not by `--init`, which would write what the list says into the user's settings.
    const settings = [`url=${source}`, "active=true", "update=checkout"].flatMap((setting) => [
      "-c",
      `submodule.${name}.${setting}`,
    ]);
    await local.run([...settings, "submodule", "--quiet", "update", "--checkout", "--", path]);
  }
}

async function isEmptyFolder(top: string, path: string): Promise<boolean> {
  return (await makeFoldersIn(top, path)) && (await readdir(join(top, path))).length === 0;
}
