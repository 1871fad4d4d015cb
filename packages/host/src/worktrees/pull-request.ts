import type { Sandbox } from "@flint/core/ports";
import { FlintError, isRecord, parsedJson } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";

/** A pull request to open. */
export interface PullRequest {
  readonly folder: string;
  readonly branch: string;
  /** The branch to merge into; the default one of the remote if absent. */
  readonly target: string | undefined;
  readonly title: string;
  readonly body: string;
  /** The commit of the branch, if an earlier run may have opened the request already. */
  readonly repeats?: string | undefined;
}

const MINUTES = 60_000;
const MAX_OUTPUT = 1024 * 1024;

/**
 * For a remote that the user asked for; one that is a command is still none. Of several proxy commands git takes the first,
 * so that of a repository cannot be overridden by a setting.
 */
export const REMOTE_ACCESS = { GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file", GIT_PROXY_COMMAND: "" };

/** For a push that runs no program beside git and what connects it. */
export const UNSIGNED = ["--no-verify", "--no-recurse-submodules", "--no-signed"];

async function pushAddresses(git: GitCommand, remote: string): Promise<string[]> {
  return (await git.run(["remote", "get-url", "--push", "--all", remote])).trim().split("\n");
}

/** The program at the other end. In a folder of this machine, which may be one of the project, it runs no hooks. */
function receivePack(addresses: readonly string[]): string {
  const isLocal = addresses.some((url) => /^file:/i.test(url) || !/^[^/]*:/.test(url));
  const unhooked = "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true receive-pack";
  return `--receive-pack=${isLocal ? unhooked : "git-receive-pack"}`;
}

/** Pushes a branch and opens a pull request with the user's own gh or glab, and so with the user's own login. */
export async function openPullRequest(
  git: GitCommand,
  sandbox: Pick<Sandbox, "launch">,
  request: PullRequest,
): Promise<string> {
  const { branch, target } = request;
  const remote = await remoteOf(git, target);
  const url = (await git.run(["remote", "get-url", remote])).trim();
  const program = /gitlab/i.test(url) ? GLAB : GH;
  const call = (command: readonly string[], problem: string) =>
    run(git, sandbox, request.folder, [program.name, ...command], problem);
  await call(["--version"], `${program.name} is needed to open pull requests.`);
  const options = ["--quiet", ...UNSIGNED, receivePack(await pushAddresses(git, remote))];
  const pushed = await git
    .with(REMOTE_ACCESS)
    .attempt(["push", ...options, remote, `refs/heads/${branch}:refs/heads/${branch}`]);
  if (pushed.exitCode !== 0)
    throw new FlintError(
      "invalidRequest",
      `${branch} could not be pushed to ${remote}: ${pushed.stderr.trim().slice(-500)}`,
    );
  if (request.repeats !== undefined) {
    const listed = await call(program.list(branch), "The pull requests cannot be listed.");
    const present = requestIn(listed, request.repeats);
    if (present !== undefined) return present;
  }
  const output = await call(program.create(request), "The pull request could not be opened.");
  return /https?:\/\/\S+/.exec(output)?.[0] ?? url;
}

/** A program that opens requests, and lists those of a branch as JSON, closed ones too. */
interface RequestProgram {
  readonly name: string;
  list(branch: string): string[];
  create(request: PullRequest): string[];
}

const GH: RequestProgram = {
  name: "gh",
  list: (branch) => [
    ...["pr", "list", "--head", branch, "--state", "all", "--limit", "20"],
    ...["--json", "url,state,headRefOid"],
  ],
  create: ({ branch, target, title, body }) => [
    ...["pr", "create", "--head", branch],
    ...(target === undefined ? [] : ["--base", target]),
    ...["--title", title, "--body", body],
  ],
};

const GLAB: RequestProgram = {
  name: "glab",
  list: (branch) => [
    "mr",
    "list",
    "--source-branch",
    branch,
    "--all",
    "--per-page",
    "20",
    "--output",
    "json",
  ],
  create: ({ branch, target, title, body }) => [
    ...["mr", "create", "--yes", "--source-branch", branch],
    ...(target === undefined ? [] : ["--target-branch", target]),
    ...["--title", title, "--description", body],
  ],
};

/** The request of a branch: one that is open, or that offered this commit, by the fields of either program. */
function requestIn(listed: string, commit: string): string | undefined {
  const rows: unknown = parsedJson(listed);
  if (!Array.isArray(rows)) return undefined;
  const found = rows
    .filter(isRecord)
    .find(({ state, headRefOid, sha }) => /^open/i.test(String(state)) || (headRefOid ?? sha) === commit);
  const url = found?.url ?? found?.web_url;
  return typeof url === "string" ? url : undefined;
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

/**
 * Neither the program nor the git that it runs is one that an agent put among those of the project, and that git runs nothing
 * that the repository names.
 */
async function run(
  git: GitCommand,
  sandbox: Pick<Sandbox, "launch">,
  folder: string,
  command: readonly string[],
  problem: string,
): Promise<string> {
  const [program = ""] = command;
  const way = `Install ${program} and log in with: ${program} auth login. Or retry the task with another --merge.`;
  const output = { stdout: "", stderr: "" };
  const environment = await git.overrides();
  // Expected: the program is not installed.
  const ended = await sandbox
    .launch({
      ...{ command: ["/usr/bin/env", `PATH=${git.searchPath}`, ...command], cwd: folder, workspace: folder },
      ...{ environment, timeoutMs: 2 * MINUTES },
      policy: { type: "dangerFullAccess" },
      onOutput: (text, stream) => {
        output[stream] = `${output[stream]}${text}`.slice(-MAX_OUTPUT);
      },
    })
    .catch(() => undefined);
  if (ended === undefined || ended.exitCode === 127)
    throw new FlintError("invalidRequest", `${problem} ${program} was not found. ${way}`);
  if (ended.exitCode === 0) return output.stdout;
  const said = `${output.stdout}${output.stderr}`.trim().slice(-500);
  throw new FlintError("invalidRequest", `${problem} ${program} says: ${said}`);
}
