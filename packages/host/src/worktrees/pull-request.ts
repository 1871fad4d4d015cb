import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";

/** A pull request to open. */
export interface PullRequest {
  readonly folder: string;
  readonly branch: string;
  /** The branch to merge into; the default one of the remote if absent. */
  readonly target: string | undefined;
  readonly title: string;
  readonly body: string;
}

const MINUTES = 60_000;

/** For a remote that the user asked for; one that is a command is still none. */
export const REMOTE_ACCESS = { GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file" };

/** Pushes a branch and opens a pull request with the user's own gh or glab, and so with the user's own login. */
export async function openPullRequest(
  git: GitCommand,
  sandbox: Pick<Sandbox, "launch">,
  request: PullRequest,
): Promise<string> {
  const { branch, target, title, body } = request;
  const remote = await remoteOf(git, target);
  const url = (await git.run(["remote", "get-url", remote])).trim();
  const isGitLab = /gitlab/i.test(url);
  const program = isGitLab ? "glab" : "gh";
  await run(git, sandbox, request, [program, "--version"], `${program} is needed to open pull requests.`);
  const pushed = await git
    .with(REMOTE_ACCESS)
    .attempt(["push", "--quiet", remote, `refs/heads/${branch}:refs/heads/${branch}`]);
  if (pushed.exitCode !== 0)
    throw new FlintError(
      "invalidRequest",
      `${branch} could not be pushed to ${remote}: ${pushed.stderr.trim().slice(-500)}`,
    );
  const into = target === undefined ? [] : [isGitLab ? "--target-branch" : "--base", target];
  const command = isGitLab
    ? [
        "glab",
        "mr",
        "create",
        "--yes",
        "--source-branch",
        branch,
        ...into,
        "--title",
        title,
        "--description",
        body,
      ]
    : ["gh", "pr", "create", "--head", branch, ...into, "--title", title, "--body", body];
  const output = await run(git, sandbox, request, command, "The pull request could not be opened.");
  return /https?:\/\/\S+/.exec(output)?.[0] ?? url;
}

/** The remote of the target branch, or the only one there is. */
async function remoteOf(git: GitCommand, target: string | undefined): Promise<string> {
  const configured =
    target === undefined ? undefined : await git.attempt(["config", "--get", `branch.${target}.remote`]);
  if (configured?.exitCode === 0 && configured.stdout.trim() !== "") return configured.stdout.trim();
  const remotes = (await git.run(["remote"])).split("\n").filter((name) => name !== "");
  const chosen = remotes.includes("origin") ? "origin" : remotes[0];
  if (chosen === undefined)
    throw new FlintError(
      "invalidRequest",
      "The repository has no remote to open a pull request at. Add one, or take the result with --merge branch.",
    );
  return chosen;
}

/** Neither the program nor the git that it runs is one that an agent put among those of the project. */
async function run(
  git: GitCommand,
  sandbox: Pick<Sandbox, "launch">,
  { folder }: PullRequest,
  command: readonly string[],
  problem: string,
): Promise<string> {
  const [program = ""] = command;
  const way = `Install ${program} and log in with: ${program} auth login. Or retry the task with another --merge.`;
  let output = "";
  // Expected: the program is not installed.
  const ended = await sandbox
    .launch({
      ...{ command: ["/usr/bin/env", `PATH=${git.searchPath}`, ...command], cwd: folder, workspace: folder },
      timeoutMs: 2 * MINUTES,
      policy: { type: "dangerFullAccess" },
      onOutput: (text) => {
        output = `${output}${text}`.slice(-4000);
      },
    })
    .catch(() => undefined);
  if (ended === undefined || ended.exitCode === 127)
    throw new FlintError("invalidRequest", `${problem} ${program} was not found. ${way}`);
  if (ended.exitCode !== 0)
    throw new FlintError("invalidRequest", `${problem} ${program} says: ${output.trim().slice(-500)}`);
  return output;
}
