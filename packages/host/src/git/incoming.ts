import {
  type Head,
  isSameHead,
  OBJECT_ID,
  OPERATION_FILES,
  REF_NAMESPACES,
  type RepositoryState,
} from "./repository.ts";

/** One ref that is different in a private git directory. */
export interface RefChange {
  readonly name: string;
  /** The commit when the directory was made; absent for a new ref. */
  readonly from?: string;
  /** The current commit; absent if the ref was deleted. */
  readonly to?: string;
}

/** An entry of the stash. */
export interface StashEntry {
  readonly id: string;
  readonly message: string;
}

/** The state of a private git directory, as reported from inside. As untrusted as the agent. */
export interface Report {
  /** The refs by name. */
  readonly refs: ReadonlyMap<string, string>;
  /** The target of HEAD; undefined if it is unclear. */
  readonly head: Head | undefined;
  /** The tree of the commit that HEAD names, if it was asked for. */
  readonly headTree: string | undefined;
  /** The tree of what is staged; undefined if that cannot be a tree, as during a merge with conflicts. */
  readonly staged: string | undefined;
  /** The operation that is not finished. */
  readonly unfinished: string | undefined;
  /** The newest first. */
  readonly stash: readonly StashEntry[];
  readonly hasWorktrees: boolean;
}

/** The changes that an agent made in its private git directory. */
export interface Incoming {
  readonly refs: readonly RefChange[];
  /** The number of refs that were changed that have names which agents may not use. */
  readonly ignoredRefs: number;
  /** The new target of HEAD, if it changed. */
  readonly head: Head | undefined;
  readonly staged: string | undefined;
  readonly unfinished: string | undefined;
  /** Entries that were added to the stash, the newest first. */
  readonly stash: readonly StashEntry[];
}

/** The ref that holds the tree of staged files, so that it can be fetched. */
export const STAGED_REF = "refs/flint/staged";

/** The refs that hold the entries of the stash, by their id. */
export const STASH_REFS = "refs/flint/stash";

/** Maximum number of stash entries that come back. */
const MAX_STASH = 50;

const SECTION = "--flint--";

/** The line that follows the report. */
export const REPORT_END = "--flint-end--";

/** Files that git reads as they are; it would wait for a pipe in their place until its time limit. */
const READ_BY_GIT = ["HEAD", "config", "index", "packed-refs", "shallow"];

/**
 * Reports the state of a private git directory, with as few processes as possible. If its input has a line then, it sends
 * a pack of the objects that the rest of the input names. Runs in the sandbox: whatever the agent set up there runs with it.
 */
export const REPORT_SCRIPT = [
  'if [ -f .git ]; then read -r _ directory < .git; else directory=.git; fi; echo "directory"',
  `for file in ${READ_BY_GIT.join(" ")}; do if [ -p "$directory/$file" ]; then echo "$file is a pipe" >&2; exit 1; fi; done`,
  `echo ${SECTION}; git for-each-ref '--format=%(objectname) %(refname) %(symref)' ${REF_NAMESPACES.join(" ")} || exit`,
  `echo ${SECTION}; read -r head < "$directory/HEAD"; echo "\${head#ref: }"`,
  `echo ${SECTION}; if tree=$(git write-tree 2>/dev/null); then echo "$tree"`,
  `[ -d "$directory/refs/flint" ] || mkdir "$directory/refs/flint"`,
  `echo "$tree" > "$directory/${STAGED_REF}"; fi`,
  `echo ${SECTION}; for file in ${Object.keys(OPERATION_FILES).join(" ")}; do`,
  `if [ -e "$directory/$file" ]; then echo "$file"; fi; done`,
  `echo ${SECTION}; if [ -e "$directory/logs/refs/stash" ]; then`,
  `git stash list -n ${MAX_STASH} '--format=%H %gs'`,
  `git stash list -n ${MAX_STASH} '--format=update ${STASH_REFS}/%H %H' | git update-ref --stdin; fi`,
  `echo ${SECTION}; for worktree in "$directory"/worktrees/*; do if [ -d "$worktree" ]; then echo "$worktree"; fi; done`,
  `echo ${SECTION}; if [ "$1" = whole ]; then git rev-parse -q --verify 'HEAD^{tree}'; fi`,
  `echo ${REPORT_END}; read -r _ || exit 0`,
  "exec git pack-objects --revs --thin --delta-base-offset --stdout -q",
].join("\n");

/** Reads what the script printed before the end of its report; undefined if something is missing. */
export function readReport(printed: string): Report | undefined {
  if (printed.split(`${SECTION}\n`).length !== 8) return undefined;
  const sections = printed.split(`${SECTION}\n`);
  const [, refs = "", head = "", staged = "", operations = "", stash = "", worktrees = "", headTree = ""] =
    sections;
  return {
    refs: parseRefs(refs),
    head: parseHead(head.trim()),
    headTree: objectId(headTree),
    staged: objectId(staged),
    unfinished: operations.split("\n").flatMap((file) => OPERATION_FILES[file] ?? [])[0],
    stash: stash.split("\n").flatMap(parseStash).slice(0, MAX_STASH),
    hasWorktrees: worktrees.trim() !== "",
  };
}

/** Returns the changes since the state from which the directory was made. */
export function changesSince(base: RepositoryState, report: Report): Incoming {
  const { staged, unfinished } = report;
  const changed = changedRefs(report.refs, base);
  return {
    refs: changed.filter(({ name }) => isChangeable(name)),
    ignoredRefs: changed.filter(({ name }) => !isChangeable(name)).length,
    head: report.head === undefined ? undefined : changedHead(report.head, base.head),
    stash: report.stash.filter(({ id }) => !base.stash.includes(id)),
    ...{ staged, unfinished },
  };
}

/** Reports whether there is nothing to take over. */
export function isEmpty({ refs, head, stash }: Incoming): boolean {
  return refs.length === 0 && head === undefined && stash.length === 0;
}

/** Reports whether nothing of the agent's in its directory would be lost if it were made again. */
export function isPristine(incoming: Incoming, { headTree, staged, hasWorktrees }: Report): boolean {
  const { ignoredRefs, unfinished } = incoming;
  const isUsed = ignoredRefs > 0 || unfinished !== undefined || hasWorktrees || staged !== headTree;
  return isEmpty(incoming) && !isUsed;
}

function parseRefs(rows: string): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const row of rows.split("\n")) {
    const [object = "", name = "", target = ""] = row.split(" ");
    if (target === "" && OBJECT_ID.test(object) && name !== "") refs.set(name, object);
  }
  return refs;
}

function parseHead(printed: string): Head | undefined {
  if (OBJECT_ID.test(printed)) return { kind: "detached", commit: printed };
  return printed.startsWith("refs/heads/") ? { kind: "branch", ref: printed } : undefined;
}

function parseStash(row: string): StashEntry[] {
  const [id = ""] = row.split(" ");
  if (!OBJECT_ID.test(id)) return [];
  // It becomes a line of a file of the user's repository.
  const message = row
    .slice(id.length + 1)
    .replace(/\p{C}/gu, " ")
    .slice(0, 200);
  return [{ id, message }];
}

function objectId(section: string): string | undefined {
  const id = section.trim();
  return OBJECT_ID.test(id) ? id : undefined;
}

/**
 * Reports whether agents may change a ref of this name. Stricter than git: a branch name ends up in command
 * lines, prompts and scripts of the user.
 */
export function isChangeable(name: string): boolean {
  return (
    /^refs\/(?:heads|tags|remotes)(?:\/[A-Za-z0-9_](?:[A-Za-z0-9_.+@#=-]*[A-Za-z0-9_+@#=-])?)+$/.test(name) &&
    !name.includes("..") &&
    !name.includes("@{") &&
    !name.split("/").some((part) => part.endsWith(".lock")) &&
    name.length <= 250
  );
}

/** Returns the prefix of the refs that keep the commits declined in a scope. */
export function declinedBelow(id: string): string {
  return `refs/flint/in/${id}`;
}

/**
 * The ref that keeps what was declined of this name in a scope. The name may come from an agent: undefined if it is none
 * that an agent could have changed, so that nothing else is ever read as its work.
 */
export function declinedRef(id: string, name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(id) || (name !== "HEAD" && !isChangeable(name))) return undefined;
  return `${declinedBelow(id)}/${name.replace(/^refs\//, "")}`;
}

function changedRefs(now: ReadonlyMap<string, string>, { refs: base }: RepositoryState): RefChange[] {
  const changed: RefChange[] = [];
  for (const [name, to] of now) {
    const from = base.get(name);
    if (from !== to) changed.push({ name, to, ...(from === undefined ? {} : { from }) });
  }
  for (const [name, from] of base) if (!now.has(name)) changed.push({ name, from });
  return changed;
}

function changedHead(head: Head, base: Head): Head | undefined {
  if (head.kind === "branch" && !isChangeable(head.ref)) return undefined;
  return isSameHead(head, base) ? undefined : head;
}
