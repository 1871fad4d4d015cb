import { relative } from "node:path";
import type { FilesOutcome } from "@flint/core/ports";
import type {
  FileConflict,
  FileConflictReason,
  FileRestore,
  NotSaved,
  NotSavedReason,
} from "@flint/protocol";
import { shownPath } from "../disk/path-text.ts";
import type { Plan, Step } from "./plan.ts";

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
