import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { GitCommand } from "../git/git-command.ts";
import type { WorktreeRepository } from "./worktree-repository.ts";

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
