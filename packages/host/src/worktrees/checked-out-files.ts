import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";
import type { WorktreeRepository } from "./worktree-repository.ts";

/** A worktree whose index is what its files are to become. */
export interface FilesRequest {
  /** The private folder that contains the worktree. */
  readonly home: string;
  readonly top: string;
  readonly environment: Readonly<Record<string, string>>;
}

const CHECK_OUT = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false checkout-index --all --force";
const TEN_MINUTES = 600_000;

/**
 * Writes the files of a worktree as its index has them. Runs in the sandbox: a filter that the user has configured may be
 * a program of the worktree, which an agent has written.
 */
export async function writeFiles(
  sandbox: Pick<Sandbox, "launch">,
  { home, top, environment }: FilesRequest,
): Promise<void> {
  let printed = "";
  const { exitCode } = await sandbox.launch({
    command: ["/bin/sh", "-c", CHECK_OUT],
    cwd: top,
    // Not the worktree itself: at the top of a workspace, the settings of tools cannot be written.
    workspace: home,
    policy: { type: "workspaceWrite" },
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
export async function updateSubmodules(git: GitCommand, { top }: WorktreeRepository): Promise<void> {
  const listed = await git.attempt([
    "config",
    "--file",
    ".gitmodules",
    "--get-regexp",
    "^submodule\\..*\\.path$",
  ]);
  if (listed.exitCode !== 0) return;
  const local = git.with({ GIT_ALLOW_PROTOCOL: "file" });
  for (const line of listed.stdout.trim().split("\n")) {
    const [, name = "", path = ""] = /^submodule\.(.+)\.path (.+)$/.exec(line) ?? [];
    const source = join(top, path);
    // The list may be that of an agent's commit: nothing outside of the user's checkout is a submodule of it, and a name
    // with an equals sign would set something else, such as a command.
    const isName = /^\w[\w./+-]*$/.test(name);
    if (!isName || !source.startsWith(`${top}/`) || !(await exists(join(source, ".git")))) continue;
    const update = ["submodule", "--quiet", "update", "--init", "--checkout", "--", path];
    await local.run(["-c", `submodule.${name}.url=${source}`, ...update]);
  }
}

async function exists(path: string): Promise<boolean> {
  // Expected: it does not exist.
  return stat(path).then(
    () => true,
    () => false,
  );
}
