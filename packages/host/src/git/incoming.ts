import { type Head, OBJECT_ID, OPERATION_FILES, REF_NAMESPACES, type RepositoryState } from "./repository.ts";

/** One ref that is different in a private git directory. */
export interface RefChange {
  readonly name: string;
  /** What it was when the directory was made; absent for a new ref. */
  readonly from?: string;
  /** What it is now; absent if it was deleted. */
  readonly to?: string;
}

/** What an agent did in its private git directory. As untrusted as the agent. */
export interface Incoming {
  readonly refs: readonly RefChange[];
  /** What HEAD names now, if that changed. */
  readonly head: Head | undefined;
  /** The tree of what is staged; undefined if that cannot be a tree, as during a merge with conflicts. */
  readonly staged: string | undefined;
  /** The operation that is not finished. */
  readonly unfinished: string | undefined;
}

/** How many refs one take-over may change. */
const MAX_REFS = 1_000;

/** Where the tree of what is staged is put, so that it can be fetched. */
export const STAGED_REF = "refs/flint/staged";

const SECTION = "--flint--";

/** Reports the state of a private git directory. Runs in the sandbox: whatever the agent set up there runs with it. */
export const REPORT_SCRIPT = [
  `git for-each-ref '--format=%(objectname) %(refname) %(symref)' ${REF_NAMESPACES.join(" ")}`,
  `echo ${SECTION}; git symbolic-ref -q HEAD || git rev-parse -q --verify HEAD`,
  `echo ${SECTION}; tree=$(git write-tree 2>/dev/null) && git update-ref ${STAGED_REF} "$tree" && echo "$tree"`,
  `echo ${SECTION}; for file in ${Object.keys(OPERATION_FILES).join(" ")}; do`,
  `if test -e "$(git rev-parse --git-path "$file")"; then echo "$file"; fi; done`,
].join("\n");

/** Reads what the script printed, as changes of the state that the directory was made from. */
export function readReport(printed: string, base: RepositoryState): Incoming {
  const [refs = "", head = "", staged = "", operations = ""] = printed.split(`${SECTION}\n`);
  const tree = staged.trim();
  return {
    refs: changedRefs(parseRefs(refs), base),
    head: changedHead(head.trim(), base.head),
    staged: OBJECT_ID.test(tree) ? tree : undefined,
    unfinished: operations.split("\n").flatMap((file) => OPERATION_FILES[file] ?? [])[0],
  };
}

/** Whether there is anything to take over. */
export function isEmpty({ refs, head }: Incoming): boolean {
  return refs.length === 0 && head === undefined;
}

function parseRefs(rows: string): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const row of rows.split("\n")) {
    const [object = "", name = "", target = ""] = row.split(" ");
    if (target === "" && OBJECT_ID.test(object) && isChangeable(name)) refs.set(name, object);
  }
  return refs;
}

/**
 * Whether agents may change a ref of this name. Stricter than git: a branch name ends up in command lines, prompts and
 * scripts of the user.
 */
export function isChangeable(name: string): boolean {
  if (name === "refs/stash") return true;
  return (
    /^refs\/(?:heads|tags|remotes)(?:\/[A-Za-z0-9_](?:[A-Za-z0-9_.+@#=-]*[A-Za-z0-9_+@#=-])?)+$/.test(name) &&
    !/\.\.|@\{|\.lock(?:\/|$)/.test(name) &&
    name.length <= 250
  );
}

function changedRefs(now: ReadonlyMap<string, string>, { refs: base }: RepositoryState): RefChange[] {
  const changed: RefChange[] = [];
  for (const [name, to] of now) {
    const from = base.get(name);
    if (from !== to) changed.push({ name, to, ...(from === undefined ? {} : { from }) });
  }
  for (const [name, from] of base) {
    // A name that agents may not use was in the repository before; it is not theirs to delete either.
    if (!now.has(name) && isChangeable(name)) changed.push({ name, from });
  }
  return changed.slice(0, MAX_REFS);
}

function changedHead(printed: string, base: Head): Head | undefined {
  if (OBJECT_ID.test(printed)) {
    const isSame = base.kind === "detached" && base.commit === printed;
    return isSame ? undefined : { kind: "detached", commit: printed };
  }
  if (!printed.startsWith("refs/heads/") || !isChangeable(printed)) return undefined;
  return base.kind === "branch" && base.ref === printed ? undefined : { kind: "branch", ref: printed };
}
