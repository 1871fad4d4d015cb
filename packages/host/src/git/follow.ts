import type { Report } from "./incoming.ts";
import { type Head, isSameHead, type RepositoryState } from "./repository.ts";

/** The plan by which a private git directory follows what the user has done since. */
export interface FollowPlan {
  /** The base from which the agent's changes are counted afterwards. */
  readonly base: RepositoryState;
  /** The command that does it, to run in the sandbox; undefined if there is nothing to do. */
  readonly command: readonly string[] | undefined;
  /** Its input. */
  readonly input: string;
}

/**
 * Plans how a private git directory follows the user's own commits without losing what the agent did: what only the user
 * changed is taken from the user, everything else stays. Where both changed a branch, the user's is shown to the agent under
 * `refs/flint/user`, so that it can be merged. With `isIncluded`, the detached HEAD of the user has what HEAD of the agent
 * has, and the agent continues from there.
 */
export function planFollow(
  base: RepositoryState,
  report: Report,
  user: RepositoryState,
  isIncluded = false,
): FollowPlan {
  // In the middle of a merge or rebase nothing may move.
  if (report.unfinished !== undefined) return { base, command: undefined, input: "" };
  const refs = new Map(base.refs);
  const lines: string[] = [];
  for (const name of new Set([...base.refs.keys(), ...user.refs.keys()])) {
    const [from, mine, theirs] = [base.refs.get(name), report.refs.get(name), user.refs.get(name)];
    if (theirs === from) continue;
    if (mine === from || mine === theirs) setOrDelete(refs, name, theirs);
    if (mine === theirs) continue;
    if (mine === from) lines.push(...refLines(name, theirs));
    else if (theirs !== undefined) lines.push(...refLines(`refs/flint/user/${name.slice(5)}`, theirs));
  }
  const isUnmoved = report.head !== undefined && isSameHead(report.head, base.head);
  const isHeadTheirs = isUnmoved || isIncluded;
  const head = isHeadTheirs ? user.head : base.head;
  const isMoved = isIncluded || !isSameHead(base.head, user.head);
  const moved = isHeadTheirs && isMoved ? user.head : undefined;
  const { symbolicRefs, indexVersion } = base;
  const next = {
    refs,
    head,
    symbolicRefs,
    indexVersion,
    stash: [...new Set([...base.stash, ...user.stash])],
  };
  if (lines.length === 0 && moved === undefined) return { base: next, command: undefined, input: "" };
  const command = ["sh", "-c", FOLLOW_SCRIPT, "sh", ...headArguments(moved)];
  return { base: next, command, input: lines.map((line) => `${line}\n`).join("") };
}

/**
 * Moves the refs, HEAD, and what of the index the agent has not changed. The files of the worktree are the user's already.
 * `symbolic-ref` reads no input, so that all of it reaches `update-ref`.
 */
const FOLLOW_SCRIPT = `
before=$(git rev-parse -q --verify 'HEAD^{commit}' < /dev/null || git hash-object -t tree --stdin < /dev/null)
git update-ref --no-deref --stdin || exit
if [ -n "$1" ]; then git symbolic-ref HEAD "$1" < /dev/null; fi
if [ -n "$2" ]; then git update-ref --no-deref HEAD "$2" < /dev/null; fi
after=$(git rev-parse -q --verify 'HEAD^{commit}' < /dev/null) || exit 0
if [ "$before" != "$after" ]; then git read-tree -i -m "$before" "$after" < /dev/null || exit 0; fi
`;

function headArguments(head: Head | undefined): string[] {
  if (head === undefined) return ["", ""];
  return head.kind === "branch" ? [head.ref, ""] : ["", head.commit];
}

function refLines(name: string, value: string | undefined): string[] {
  return [value === undefined ? `delete ${name}` : `update ${name} ${value}`];
}

function setOrDelete(refs: Map<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) refs.delete(name);
  else refs.set(name, value);
}
