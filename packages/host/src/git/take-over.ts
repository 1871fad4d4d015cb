import { rm } from "node:fs/promises";
import { singleQuote } from "@flint/core/text";
import { FlintError } from "@flint/protocol";
import type { GitCommand, GitResult } from "./git-command.ts";
import { type Incoming, isEmpty, REPORT_SCRIPT, type RefChange, readReport, STAGED_REF } from "./incoming.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { OBJECT_ID, readState, unfinishedOperation } from "./repository.ts";

/** Runs commands in the sandbox of an agent, with its private git directory in place and without any network. */
export interface ConfinedGit {
  run(command: readonly string[]): Promise<GitResult>;
  /** The command line that runs a command likewise. */
  wrap(command: readonly string[]): readonly string[];
}

/** A commit that an agent made. */
export interface IncomingCommit {
  readonly id: string;
  readonly title: string;
}

/** One ref with the commits that it gains. */
export interface IncomingRef extends RefChange {
  readonly commits: readonly IncomingCommit[];
  /** How many commits there are; more than `commits` if there are very many. */
  readonly total: number;
}

/** What would be taken over, for the user to look at. */
export interface Offer {
  readonly refs: readonly IncomingRef[];
  readonly head: Incoming["head"];
  /** The difference that the refs make, bounded. */
  readonly diff: string;
}

/** How a take-over ended. */
export type TakeOver =
  | { readonly status: "done"; readonly notes: readonly string[] }
  /** Nothing was changed. The commits stay under `refs/flint/in`. */
  | { readonly status: "refused"; readonly reason: string };

const MAX_COMMITS = 50;
const MAX_DIFF = 200_000;

/**
 * Takes the commits of an agent over into the user's repository. They are fetched as from a remote that is not trusted:
 * git checks every object, nothing that the agent wrote is read as a file of a repository, and no program that it named
 * runs outside of the sandbox.
 */
export class GitTakeOver {
  readonly #git: GitCommand;
  readonly #private: PrivateGitDir;
  readonly #confined: ConfinedGit;
  /** Where fetched refs are kept until they are taken over. */
  readonly #prefix: string;

  constructor(git: GitCommand, privateDir: PrivateGitDir, confined: ConfinedGit, id: string) {
    this.#git = git;
    this.#private = privateDir;
    this.#confined = confined;
    this.#prefix = `refs/flint/in/${id}`;
  }

  /** Looks at what the agent did; undefined if there is nothing to take over. */
  async incoming(): Promise<Incoming | undefined> {
    const { exitCode, stdout, stderr } = await this.#confined.run(["sh", "-c", REPORT_SCRIPT]);
    if (exitCode !== 0 && stdout === "") {
      throw new FlintError("internalError", `The agent's repository cannot be read: ${stderr.slice(0, 500)}`);
    }
    const incoming = readReport(stdout, this.#private.base);
    return isEmpty(incoming) ? undefined : incoming;
  }

  /** Fetches the objects, without changing any ref of the user, and describes them. Rejects if git refuses them. */
  async offer(incoming: Incoming): Promise<Offer> {
    await this.#fetch(incoming);
    const refs: IncomingRef[] = [];
    for (const change of incoming.refs) refs.push({ ...change, ...(await this.#commits(change)) });
    return { refs, head: incoming.head, diff: await this.#diff(incoming.refs) };
  }

  /** Changes the user's refs, HEAD and index to what was offered; all refs or none, and only if no one else changed them. */
  async accept(incoming: Incoming): Promise<TakeOver> {
    const { repository, base } = this.#private;
    const operation = await unfinishedOperation(repository);
    if (operation !== undefined) return refused(`a ${operation} is not finished in the repository`);
    const elsewhere = await this.#checkedOutElsewhere(incoming.refs);
    if (elsewhere !== undefined) return refused(`${elsewhere} is checked out in another worktree`);
    const now = await readState(this.#git, repository);
    const isIndexSame = now.indexVersion === base.indexVersion;
    if (incoming.head !== undefined && JSON.stringify(now.head) !== JSON.stringify(base.head)) {
      return refused("HEAD was changed in the meantime");
    }
    const lines = incoming.refs.flatMap(refUpdate);
    const updated = await this.#git.attempt(["update-ref", "--stdin"], `${lines.join("\n")}\n`);
    if (updated.exitCode !== 0) return refused(reasonOf(updated.stderr));
    const notes = await this.#moveHead(incoming, isIndexSame);
    await this.discard();
    return { status: "done", notes };
  }

  /** Forgets what was fetched. */
  async discard(): Promise<void> {
    const listed = await this.#git.run(["for-each-ref", "--format=delete %(refname)", `${this.#prefix}/`]);
    if (listed !== "") await this.#git.run(["update-ref", "--stdin"], listed);
  }

  /** Removes the private git directory. */
  async remove(): Promise<void> {
    await rm(this.#private.folder, { recursive: true, force: true });
  }

  async #fetch({ refs, staged, head }: Incoming): Promise<void> {
    const { worktree } = this.#private.repository;
    const wanted = refs.flatMap(({ name, to }) => (to === undefined ? [] : [`+${name}:${this.#kept(name)}`]));
    if (staged !== undefined) wanted.push(`+${STAGED_REF}:${this.#kept(STAGED_REF)}`);
    if (head?.kind === "detached") wanted.push(`+HEAD:${this.#prefix}/HEAD`);
    if (wanted.length === 0) return;
    const uploadPack = this.#confined.wrap(["git", "upload-pack"]).map(singleQuote).join(" ");
    const options = [
      "--no-tags",
      "--no-write-fetch-head",
      "--no-recurse-submodules",
      "--no-auto-maintenance",
      "-q",
    ];
    await this.#git.run(["fetch", ...options, `--upload-pack=${uploadPack}`, `${worktree}/.git`, ...wanted]);
    for (const { name, to } of refs) if (to !== undefined) await this.#expectFetched(name, to);
  }

  /** What arrived has to be what was reported, because that is what is shown and taken over. */
  async #expectFetched(name: string, to: string): Promise<void> {
    const found = (await this.#git.run(["rev-parse", "--verify", this.#kept(name)])).trim();
    if (found !== to)
      throw new FlintError("internalError", `${name} changed while it was fetched; try again.`);
  }

  #kept(name: string): string {
    return `${this.#prefix}/${name.slice("refs/".length)}`;
  }

  async #commits({ from, to }: RefChange): Promise<Pick<IncomingRef, "commits" | "total">> {
    if (to === undefined) return { commits: [], total: 0 };
    // Everything that no ref of the user has yet.
    const range = [to, "--not", ...(from === undefined ? ["--branches", "--tags", "--remotes"] : [from])];
    const counted = await this.#git.attempt(["rev-list", "--count", ...range, "--"]);
    const listed = await this.#git.attempt([
      "log",
      "--format=%H%x09%s",
      `--max-count=${MAX_COMMITS}`,
      ...range,
      "--",
    ]);
    const commits = listed.stdout.split("\n").flatMap((line) => {
      const [id = "", title = ""] = [line.slice(0, line.indexOf("\t")), line.slice(line.indexOf("\t") + 1)];
      return OBJECT_ID.test(id) ? [{ id, title: title.slice(0, 200) }] : [];
    });
    return { commits, total: Number(counted.stdout.trim()) || commits.length };
  }

  async #diff(refs: readonly RefChange[]): Promise<string> {
    const parts: string[] = [];
    for (const { from, to } of refs) {
      if (to === undefined || from === undefined) continue;
      const plain = ["--no-ext-diff", "--no-textconv", "--no-color"];
      parts.push((await this.#git.attempt(["diff", ...plain, from, to, "--"])).stdout);
    }
    return parts.join("").slice(0, MAX_DIFF);
  }

  /** A branch that another worktree of the user has checked out, whose files would not match any more. */
  async #checkedOutElsewhere(refs: readonly RefChange[]): Promise<string | undefined> {
    const { worktree, gitDir } = this.#private.repository;
    // A submodule is listed by its git directory.
    const here = [worktree, gitDir].map((path) => `worktree ${path}`);
    const listed = await this.#git.run(["worktree", "list", "--porcelain", "-z"]);
    const others = listed.split("\0\0").map((entry) => entry.split("\0"));
    for (const lines of others) {
      const branch = lines.find((line) => line.startsWith("branch "))?.slice("branch ".length);
      if (!here.includes(lines[0] ?? "") && refs.some(({ name }) => name === branch)) return branch;
    }
    return undefined;
  }

  async #moveHead({ head, staged }: Incoming, isIndexSame: boolean): Promise<string[]> {
    if (head?.kind === "branch") await this.#git.run(["symbolic-ref", "HEAD", head.ref]);
    if (head?.kind === "detached") await this.#git.run(["update-ref", "--no-deref", "HEAD", head.commit]);
    if (staged === undefined)
      return ["The index is as it was, because the agent has an unfinished operation."];
    if (!isIndexSame) return ["The index is as it was, because it was changed in the meantime."];
    const { exitCode, stderr } = await this.#git.attempt(["read-tree", "-m", "-i", staged]);
    return exitCode === 0 ? [] : [`The index is as it was: ${reasonOf(stderr)}.`];
  }
}

function refUpdate({ name, from, to }: RefChange): string[] {
  if (to === undefined) return [`delete ${name} ${from ?? ""}`];
  return from === undefined ? [`create ${name} ${to}`] : [`update ${name} ${to} ${from}`];
}

function refused(reason: string): TakeOver {
  return { status: "refused", reason };
}

function reasonOf(stderr: string): string {
  return (stderr.trim().split("\n").at(-1) ?? "").replace(/^(?:fatal|error): /, "");
}
