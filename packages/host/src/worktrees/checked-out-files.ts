import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { targetExists } from "../files/path-kinds.ts";
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
    const update = ["submodule", "--quiet", "update", "--init", "--checkout", "--", path];
    await local.run(["-c", `submodule.${name}.url=${source}`, ...update]);
  }
}

async function isEmptyFolder(top: string, path: string): Promise<boolean> {
  return (await makeFoldersIn(top, path)) && (await readdir(join(top, path))).length === 0;
}
