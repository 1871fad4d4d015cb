import { relative } from "node:path";
import type { FilesOutcome } from "@flint/core/ports";
import type {
  FileConflict,
  FileConflictReason,
  FileRestore,
  NotSaved,
  NotSavedReason,
} from "@flint/protocol";
import { shownPath } from "../disk/disk.ts";
import { isPlain, isProtected, rootOf } from "../disk/roots.ts";
import type { FilesRecord } from "../records/thread-records.ts";
import { type Entry, type State, sameState } from "../scan/entry.ts";

/** One path that is put back: what is there now, and what is to be there. */
export interface Step {
  readonly path: string;
  readonly root: string;
  readonly present: State;
  readonly wanted: State;
}

/** What has to be done, what is left alone, and what cannot be done. */
export interface Plan {
  /** In the order in which they have to happen. */
  readonly steps: readonly Step[];
  readonly conflicts: readonly (readonly [path: string, reason: FileConflictReason])[];
  readonly notSaved: readonly (readonly [path: string, why: NotSavedReason])[];
}

/** How a plan sees the disk. */
export interface View {
  /** What is at a path now; "blocked" if a link or a file is in the way. */
  present(path: string, root: string): State | "blocked";
  /** The paths in a folder. */
  children(path: string, root: string): readonly string[];
  /** Whether the content of an entry is still kept. */
  isKept(entry: Entry): boolean;
}

interface History {
  readonly root: string;
  readonly before: State;
  readonly after: State;
  /** Somebody else changed it between two of the records. */
  readonly isBroken: boolean;
}

/** How to get back to the moment before the first of these records, without losing what others did meanwhile. */
export function planFiles(records: readonly FilesRecord[], view: View): Plan {
  const steps: Step[] = [];
  const conflicts: [string, FileConflictReason][] = [];
  const notSaved = new Map(records.flatMap((record) => record.notSaved));
  for (const [path, history] of historiesOf(records)) {
    const found = decide(path, history, view);
    if (found === undefined) continue;
    if ("why" in found) notSaved.set(path, found.why);
    else if ("reason" in found) conflicts.push([path, found.reason]);
    else steps.push(found);
  }
  return { ...withoutFullFolders(steps, conflicts, view), notSaved: [...notSaved] };
}

function historiesOf(records: readonly FilesRecord[]): ReadonlyMap<string, History> {
  const histories = new Map<string, History>();
  for (const { roots, changes } of records) {
    for (const { path, before, after } of changes) {
      const root = rootOf(path, roots);
      if (root === undefined || !isPlain(path, root)) continue;
      const known = histories.get(path);
      const isBroken = known !== undefined && (known.isBroken || !sameState(known.after, before));
      histories.set(path, { root, before: known === undefined ? before : known.before, after, isBroken });
    }
  }
  return histories;
}

type Decided = Step | { readonly reason: FileConflictReason } | { readonly why: NotSavedReason } | undefined;

function decide(path: string, { root, before, after, isBroken }: History, view: View): Decided {
  if (sameState(before, after)) return undefined;
  if (isProtected(path, root)) return { why: "protected" };
  if (before?.kind === "unsaved") return { why: before.why };
  // What could not be saved now could not be brought back either.
  if (after?.kind === "unsaved") return { why: after.why };
  const present = view.present(path, root);
  if (present === "blocked") return { reason: "blocked" };
  if (sameState(present, before)) return undefined;
  if (!sameState(present, after)) return { reason: "changedSince" };
  if (isBroken) return { reason: "changedBetween" };
  if (before !== undefined && !view.isKept(before)) return { reason: "notSaved" };
  return { path, root, present, wanted: before };
}

/** A folder goes only if nothing is left in it; what must go before it goes before it. */
function withoutFullFolders(
  steps: readonly Step[],
  conflicts: readonly (readonly [string, FileConflictReason])[],
  view: View,
): Pick<Plan, "steps" | "conflicts"> {
  const gone = new Set(steps.filter(({ wanted }) => wanted === undefined).map(({ path }) => path));
  const full: [string, FileConflictReason][] = [];
  const kept = steps.toSorted(innerFirst).filter(({ path, root, present, wanted }) => {
    if (present?.kind !== "folder" || wanted?.kind === "folder") return true;
    if (view.children(path, root).every((child) => gone.has(child))) return true;
    full.push([path, "notEmpty"]);
    gone.delete(path);
    return false;
  });
  const removed = kept.filter(({ wanted }) => wanted === undefined);
  const made = kept
    .filter(({ wanted }) => wanted !== undefined)
    .sort((left, right) => -innerFirst(left, right));
  return { steps: [...removed, ...made], conflicts: [...conflicts, ...full] };
}

function innerFirst(left: Step, right: Step): number {
  return right.path.split("/").length - left.path.split("/").length;
}

const CONFLICTS: Readonly<Record<FileConflictReason, string>> = {
  changedSince: "It was changed after the turn, so it is left as it is.",
  changedBetween: "It was changed by somebody else between the turns, so it is left as it is.",
  notSaved: "What was in it is not kept any more, so it is left as it is.",
  blocked: "A link or a file stands where its folder was. Nothing is written behind it.",
  notEmpty: "The folder holds something that the turns did not make, so it stays.",
  failed: "It could not be written. Check its permissions and the room on the disk, then try again.",
};

const NOT_SAVED: Readonly<Record<NotSavedReason, string>> = {
  ignored: "It is ignored (.gitignore or node_modules), so changes in it stay.",
  tooLarge: "It is too large to be saved, so changes in it stay.",
  limit: "There was too much to save all of it, so changes in it stay.",
  special: "It is not a plain file that can be read, so changes in it stay.",
  protected: "It steers version control, agents, editors or shells, so it is never touched.",
  outside: "It lies outside of the workspace, so it is never touched.",
  failed: "It could not be saved before the turn changed it.",
  noCheckpoint: "Nothing was saved before this turn; what it changed stays.",
};

/** What is told about a plan, or about what came of it. Paths are told from `cwd`. */
export function toldFiles(plan: Plan, status: FileRestore["status"], cwd: string): FilesOutcome {
  const shown = (path: string) => shownFrom(path, cwd);
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

function restoreOf({ present, wanted }: Step, status: FileRestore["status"], path: string): FileRestore {
  const kind = (wanted ?? present)?.kind ?? "file";
  return {
    path,
    action: wanted === undefined ? "delete" : present === undefined ? "create" : "restore",
    kind: kind === "unsaved" ? "file" : kind,
    status,
    ...(present?.kind === "file" ? { sizeBefore: present.size } : {}),
    ...(wanted?.kind === "file" ? { sizeAfter: wanted.size } : {}),
  };
}

function shownFrom(path: string, cwd: string): string {
  if (!path.startsWith("/")) return shownPath(path);
  const from = relative(cwd, path);
  return shownPath(from === "" || from === ".." || from.startsWith("../") ? path : from);
}
