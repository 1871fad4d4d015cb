import { relative } from "node:path";
import type { FilesOutcome } from "@flint/core/ports";
import type {
  FileConflict,
  FileConflictReason,
  FileRestore,
  NotSaved,
  NotSavedReason,
} from "@flint/protocol";
import { displayPath } from "../disk/disk.ts";
import { isNormalized, isProtected, rootOf } from "../disk/roots.ts";
import type { FilesRecord } from "../records/thread-records.ts";
import { type Entry, type State, sameState } from "../scan/entry.ts";

/** The restore of one path, from its current state to its target state. */
export interface Step {
  readonly path: string;
  readonly root: string;
  readonly current: State;
  readonly target: State;
}

/** The steps of a restore, what conflicts with it, and what was never saved. */
export interface Plan {
  /** In the order in which they have to be done. */
  readonly steps: readonly Step[];
  readonly conflicts: readonly (readonly [path: string, reason: FileConflictReason])[];
  readonly notSaved: readonly (readonly [path: string, why: NotSavedReason])[];
}

/** The view of the disk that planning needs. */
export interface DiskView {
  /** The current state of a path; "blocked" if a link or a file is in the way. */
  current(path: string, root: string): State | "blocked";
  /** The paths in a folder. */
  children(path: string, root: string): readonly string[];
  /** Reports whether the content of an entry is still stored. */
  isStored(entry: Entry): boolean;
}

interface History {
  readonly root: string;
  readonly before: State;
  readonly after: State;
  /** True if someone else changed it between two of the records. */
  readonly isBroken: boolean;
}

/** Plans a restore to before the first of these records, without losing changes that others made since. */
export function planFiles(records: readonly FilesRecord[], view: DiskView): Plan {
  const steps: Step[] = [];
  const conflicts: [string, FileConflictReason][] = [];
  const notSaved = new Map(records.flatMap((record) => record.notSaved));
  const newFolders = new Set<string>();
  for (const [path, history] of [...historiesOf(records)].sort(
    ([left], [right]) => depthOf(left) - depthOf(right),
  )) {
    const found = decide(path, history, withNewFolders(view, newFolders));
    if (found === undefined) continue;
    if ("why" in found) notSaved.set(path, found.why);
    else if ("reason" in found) conflicts.push([path, found.reason]);
    else {
      steps.push(found);
      if (found.target?.kind === "folder") newFolders.add(path);
    }
  }
  return { ...withoutFullFolders(steps, conflicts, view), notSaved: [...notSaved] };
}

/** Counts an entry that blocks a path as nothing if the plan replaces it by a folder. */
function withNewFolders(view: DiskView, newFolders: ReadonlySet<string>): DiskView {
  return {
    ...view,
    current: (path, root) => {
      const state = view.current(path, root);
      return state === "blocked" && ancestorsOf(path).some((above) => newFolders.has(above))
        ? undefined
        : state;
    },
  };
}

function ancestorsOf(path: string): readonly string[] {
  const names = path.split("/");
  return names.slice(1, -1).map((_name, at) => names.slice(0, at + 2).join("/"));
}

function historiesOf(records: readonly FilesRecord[]): ReadonlyMap<string, History> {
  const histories = new Map<string, History>();
  for (const { roots, changes } of records) {
    for (const { path, before, after } of changes) {
      const root = rootOf(path, roots);
      if (root === undefined || !isNormalized(path, root)) continue;
      const known = histories.get(path);
      const isBroken = known !== undefined && (known.isBroken || !sameState(known.after, before));
      histories.set(path, { root, before: known === undefined ? before : known.before, after, isBroken });
    }
  }
  return histories;
}

type Decided = Step | { readonly reason: FileConflictReason } | { readonly why: NotSavedReason } | undefined;

function decide(path: string, { root, before, after, isBroken }: History, view: DiskView): Decided {
  if (sameState(before, after)) return undefined;
  if (isProtected(path, root)) return { why: "protected" };
  if (before?.kind === "unsaved") return { why: before.why };
  // A file that could not be saved could not be restored by an undo either.
  if (after?.kind === "unsaved") return { why: after.why };
  const current = view.current(path, root);
  if (current === "blocked") return { reason: "blocked" };
  if (sameState(current, before)) return undefined;
  if (!sameState(current, after)) return { reason: "changedSince" };
  if (isBroken) return { reason: "changedBetween" };
  if (before !== undefined && !view.isStored(before)) return { reason: "notSaved" };
  return { path, root, current, target: before };
}

/** Leaves out folders that would not be empty, and orders the steps: deepest deletions first, outermost creations first. */
function withoutFullFolders(
  steps: readonly Step[],
  conflicts: readonly (readonly [string, FileConflictReason])[],
  view: DiskView,
): Pick<Plan, "steps" | "conflicts"> {
  const gone = new Set(steps.filter(({ target }) => target === undefined).map(({ path }) => path));
  const full: [string, FileConflictReason][] = [];
  const kept = steps.toSorted(deepestFirst).filter(({ path, root, current, target }) => {
    if (current?.kind !== "folder" || target?.kind === "folder") return true;
    if (view.children(path, root).every((child) => gone.has(child))) return true;
    full.push([path, "notEmpty"]);
    gone.delete(path);
    return false;
  });
  const removed = kept.filter(({ target }) => target === undefined);
  const made = kept
    .filter(({ target }) => target !== undefined)
    .sort((left, right) => -deepestFirst(left, right));
  return { steps: [...removed, ...made], conflicts: [...conflicts, ...full] };
}

function deepestFirst(left: Step, right: Step): number {
  return depthOf(right.path) - depthOf(left.path);
}

function depthOf(path: string): number {
  return path.split("/").length;
}

const CONFLICTS: Readonly<Record<FileConflictReason, string>> = {
  changedSince: "It was changed after the turn, so it is left as it is.",
  changedBetween: "It was changed between the turns by something else, so it is left as it is.",
  notSaved: "Its earlier content is no longer stored, so it is left as it is.",
  blocked: "A link or a file is in place of its folder, so nothing is written there.",
  notEmpty: "The folder contains files that the turns did not create, so it stays.",
  failed: "It could not be written. Check its permissions and the free disk space, then try again.",
};

const NOT_SAVED: Readonly<Record<NotSavedReason, string>> = {
  ignored: "It is ignored (.gitignore or node_modules), so changes in it stay.",
  tooLarge: "It is too large to be saved, so changes in it stay.",
  limit: "There was too much to save all of it, so changes in it stay.",
  special: "It is not a readable regular file, so changes in it stay.",
  protected: "It configures version control, agents, editors or shells, so it is never touched.",
  outside: "It is outside of the workspace, so it is never touched.",
  failed: "It could not be saved before the turn changed it.",
  noCheckpoint: "Nothing was saved before this turn; what it changed stays.",
};

/** Describes a plan, or its result, for clients. Paths are relative to `cwd`. */
export function filesOutcome(plan: Plan, status: FileRestore["status"], cwd: string): FilesOutcome {
  const shown = (path: string) => displayFrom(path, cwd);
  return {
    files: plan.steps.map((step) => restoreOf(step, status, shown(step.path))),
    conflicts: plan.conflicts.map(
      ([path, reason]): FileConflict => ({ path: shown(path), reason, message: CONFLICTS[reason] }),
    ),
    notSaved: plan.notSaved.map(
      ([path, reason]): NotSaved => ({ path: shown(path), reason, message: NOT_SAVED[reason] }),
    ),
  };
}

function restoreOf({ current, target }: Step, status: FileRestore["status"], path: string): FileRestore {
  const kind = kindOf(target ?? current);
  return {
    path,
    action: target === undefined ? "delete" : current === undefined ? "create" : "restore",
    kind,
    ...(current === undefined || kindOf(current) === kind ? {} : { kindBefore: kindOf(current) }),
    status,
    ...(current?.kind === "file" ? { sizeBefore: current.size } : {}),
    ...(target?.kind === "file" ? { sizeAfter: target.size } : {}),
  };
}

function kindOf(state: State): FileRestore["kind"] {
  return state === undefined || state.kind === "unsaved" ? "file" : state.kind;
}

function displayFrom(path: string, cwd: string): string {
  if (!path.startsWith("/")) return displayPath(path);
  const from = relative(cwd, path);
  return displayPath(from === "" || from === ".." || from.startsWith("../") ? path : from);
}
