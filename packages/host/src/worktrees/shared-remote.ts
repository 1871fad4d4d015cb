import { isAbsolute, resolve } from "node:path";
import { FlintError } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";
import { OBJECT_ID } from "../git/repository.ts";
import { REMOTE_ACCESS, UNSIGNED } from "./pull-request.ts";
import { readRef, taskRef, type WorktreeRepository } from "./worktree-repository.ts";

/** A task's repository for machines that have it at different paths: each has a clone, and all reach the remote. */
export interface SharedRepository {
  readonly url: string;
  /** The commit that the task starts from. */
  readonly commit: string;
  /** The folder in the repository in which the task works, relative to its top. */
  readonly folder: string;
}

/** Not programs that the repository names: of several, git takes the first, so a setting cannot override them. */
const RECEIVE_PACK = "--receive-pack=git-receive-pack";
const UPLOAD_PACK = "--upload-pack=git-upload-pack";

/** The remote as it is not trusted: every object is checked, and no ref of the user is changed. */
const FETCH = ["-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
const QUIET = ["--no-recurse-submodules", "--no-auto-maintenance", UPLOAD_PACK];

/** Shares what a task in this repository starts from. `remote` is the name of one of its remotes, or an address. */
export async function shareRepository(
  git: GitCommand,
  { top, subfolder }: WorktreeRepository,
  remote: string,
  commit: string,
): Promise<SharedRepository> {
  const url = await addressOf(git, top, remote);
  await push(git, url, commit, baseRef(commit));
  return { url, commit, folder: subfolder };
}

/** Fetches those of the commits that this clone does not have; the ids say that they are what was meant. */
export async function fetchMissing(
  git: GitCommand,
  task: string,
  { url, commit }: SharedRepository,
  commits: readonly string[],
): Promise<void> {
  const requested = [commit, ...commits].filter((id) => OBJECT_ID.test(id));
  if ((await missing(git, requested)).length === 0) return;
  const refs = [`+${baseRef(commit)}:${baseRef(commit)}`, `+${taskRef(task)}/*:refs/flint/fetched/${task}/*`];
  const fetched = await git.with(REMOTE_ACCESS).attempt([...FETCH, ...QUIET, "--", url, ...refs]);
  if (fetched.exitCode !== 0) throw unreachable("fetched from", url, fetched.stderr);
  const [gone] = await missing(git, requested);
  if (gone !== undefined)
    throw new FlintError(
      "invalidRequest",
      `${shownAddress(url)} does not have the commit ${gone} of the task.`,
    );
}

/** The commit that a ref of a task names at the remote; undefined if there is none. Rejects if the remote cannot be reached. */
export async function fetchRef(
  git: GitCommand,
  url: string,
  task: string,
  name: string,
): Promise<string | undefined> {
  const remote = git.with(REMOTE_ACCESS);
  const listed = await remote.attempt(["ls-remote", UPLOAD_PACK, "--", url, taskRef(task, name)]);
  if (listed.exitCode !== 0) throw unreachable("fetched from", url, listed.stderr);
  if (listed.stdout.trim() === "") return undefined;
  const fetchedAs = `refs/flint/fetched/${task}/${name}`;
  const fetched = await remote.attempt([
    ...FETCH,
    ...QUIET,
    "--",
    url,
    `+${taskRef(task, name)}:${fetchedAs}`,
  ]);
  if (fetched.exitCode !== 0) throw unreachable("fetched from", url, fetched.stderr);
  return readRef(git, fetchedAs);
}

/** Puts a commit under a ref at the remote. Rejects if it cannot be reached or has another commit there. */
export async function push(git: GitCommand, url: string, commit: string, ref: string): Promise<void> {
  const options = ["--quiet", ...UNSIGNED, RECEIVE_PACK];
  const pushed = await git.with(REMOTE_ACCESS).attempt(["push", ...options, "--", url, `${commit}:${ref}`]);
  if (pushed.exitCode !== 0) throw unreachable("pushed to", url, pushed.stderr);
}

/** The addresses of a clone's remotes, for fetching and for pushing. */
export async function remotesOf(git: GitCommand, top: string): Promise<string[]> {
  const listed = await git.run(["remote", "--verbose"]);
  const urls = listed.split("\n").flatMap((line) => /^\S+\t(.*) \((?:fetch|push)\)/.exec(line)?.[1] ?? []);
  return [...new Set(urls.map((url) => absolute(top, url)))];
}

/** Removes what a task has left at the remote. */
export async function forgetShared(git: GitCommand, task: string, url: string): Promise<void> {
  const remote = git.with(REMOTE_ACCESS);
  // Expected: it cannot be reached; what is left there does no harm.
  const listed = await remote.attempt(["ls-remote", UPLOAD_PACK, "--", url, `${taskRef(task)}/*`]);
  const refs = listed.stdout.split("\n").flatMap((line) => line.split("\t")[1] ?? []);
  if (refs.length > 0)
    await remote.attempt([
      "push",
      "--quiet",
      ...UNSIGNED,
      RECEIVE_PACK,
      "--",
      url,
      ...refs.map((ref) => `:${ref}`),
    ]);
}

async function addressOf(git: GitCommand, top: string, remote: string): Promise<string> {
  const named = /^[\w.-]+$/.test(remote) ? await git.attempt(["remote", "get-url", remote]) : undefined;
  if (named !== undefined && named.exitCode !== 0)
    throw new FlintError("invalidParams", `The repository in ${top} has no remote ${remote}.`);
  const url = named?.stdout.trim() ?? remote;
  const address = absolute(top, url);
  if (!isRemoteAddress(address))
    throw new FlintError("invalidParams", `${url} is not the address of a git remote.`);
  if (/^[\w+.-]+:\/\/[^/@]*:[^/@]*@/.test(url))
    throw new FlintError(
      "invalidParams",
      `The address ${shownAddress(url)} has a password in it, which everybody in the fleet could read. Use a credential helper or SSH.`,
    );
  return address;
}

/** A folder that is named from the repository, as it is called from anywhere; `-` begins an option. */
function absolute(top: string, url: string): string {
  return url.includes(":") || isAbsolute(url) || url.startsWith("-") ? url : resolve(top, url);
}

/** Returns those of these commits that are not in the clone. */
async function missing(git: GitCommand, commits: readonly string[]): Promise<string[]> {
  const asked = commits.map((id) => `${id}^{commit}\n`).join("");
  const found = await git.run(["cat-file", "--batch-check"], asked);
  return found.split("\n").flatMap((line) => /^(\S+)\^\{commit\} missing$/.exec(line)?.[1] ?? []);
}

function baseRef(commit: string): string {
  return `refs/flint/base/${commit}`;
}

function unreachable(what: string, url: string, stderr: string): FlintError {
  const reason = stderr.trim().slice(-500) || "git did not end in time";
  return new FlintError("invalidRequest", `The work cannot be ${what} ${shownAddress(url)}: ${reason}`);
}

/** The protocols of addresses; what else git knows by a name would be a program that connects it. */
const PROTOCOL = /^(?:https?|ssh|git|file):\/\//i;

/** `user@host:path`, with a host that ssh cannot take for an option. */
const SSH_PATH = /^(?:[\w.+][\w.+-]*@)?[\w[][\w.[\]-]*:(?!:|\/\/)/;

/**
 * Reports whether this is the address of a repository and nothing else: not an option, not a transport helper
 * such as `ext::`, which runs a command, and not the name of a remote.
 */
export function isRemoteAddress(url: string): boolean {
  if (/[\s\p{Cc}]/u.test(url) || /^[\w+.-]*::/.test(url)) return false;
  if (PROTOCOL.test(url)) return !/^\w+:\/\/(?:[^/]*@)?-/.test(url);
  return url.startsWith("/") || SSH_PATH.test(url);
}

/** Two addresses of a repository that differ only in how they are written. */
export function isSameRemote(one: string, other: string): boolean {
  const plain = (url: string) => url.replace(/\/+$/, "").replace(/\.git$/, "");
  return plain(one) === plain(other);
}

/**
 * Reports whether an address is this one or below it, in whole names: `https://git.example/team` has
 * `…/team/app`, not `…/teams`.
 */
export function isBelowRemote(url: string, above: string): boolean {
  if (isSameRemote(url, above)) return true;
  const start = /[/:]$/.test(above) ? above : `${above}/`;
  const rest = url.slice(start.length).replaceAll(/%2e/gi, ".").replaceAll(/%2f/gi, "/");
  return url.startsWith(start) && !rest.split(/[/\\]/).includes("..");
}

/** An address without a user name and password. */
export function shownAddress(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
