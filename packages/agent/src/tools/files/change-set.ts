import { resolve } from "node:path";
import { unifiedDiff } from "@flint/host/files";
import { errorMessage, type FileUpdateChange, type Item, type Permission } from "@flint/protocol";
import { declined, done, failed, INTERRUPTED, type ToolContext, type ToolOutcome } from "../tool.ts";
import type { FileVersions } from "./file-versions.ts";
import type { FileContent, WorkspaceFile } from "./workspace-file.ts";

type FileItem = Item<"fileChange">;

/** The planned change of one file. Undefined content means that the file does not exist. */
export interface PlannedChange {
  readonly file: WorkspaceFile;
  readonly before: FileContent | undefined;
  readonly after: string | undefined;
  /** The new place of the file, if it moves. */
  readonly movedTo?: WorkspaceFile;
}

/** Files that change together or not at all. The user sees the exact diff first. */
export class ChangeSet {
  readonly #changes: readonly PlannedChange[];
  readonly #fileVersions: FileVersions;
  readonly #context: ToolContext;

  constructor(changes: readonly PlannedChange[], fileVersions: FileVersions, context: ToolContext) {
    this.#changes = changes;
    this.#fileVersions = fileVersions;
    this.#context = context;
  }

  /** Asks for approval and applies the changes. Throws a FileAccessError if a file changed since the model read it. */
  async propose(): Promise<ToolOutcome> {
    for (const { file, before } of this.#changes) {
      if (before !== undefined) this.#fileVersions.rejectStale(file.path, before.text, file.relativePath);
    }
    const changes = await Promise.all(this.#changes.map(updateOf));
    const { turn, signal, itemId } = this.#context;
    const item: FileItem = { type: "fileChange", id: itemId, changes, status: "inProgress" };
    const complete = (rest: Partial<FileItem>) =>
      turn.emit({ type: "item/completed", item: { ...item, ...rest } });
    startChange(item, this.#context);
    const decision = await turn.approve({ kind: "fileChange", itemId, changes, ...this.#needs() });
    if (signal.aborted) return INTERRUPTED;
    if (decision.outcome !== "allow") {
      complete({ status: "declined" });
      return decision.outcome === "cancel" ? INTERRUPTED : declined(decision.message);
    }
    const problem = await this.#apply();
    complete(problem === undefined ? { status: "completed" } : { status: "failed", output: problem });
    return problem === undefined ? done(this.#changes.map(described).join("\n")) : failed(problem);
  }

  /** The folders outside of the writable ones. */
  #needs(): { readonly needs?: Permission } {
    const files = this.#changes.flatMap(({ file, movedTo }) => (movedTo ? [file, movedTo] : [file]));
    const write = [...new Set(files.flatMap(({ outside }) => outside?.path ?? []))].sort();
    return write.length === 0 ? {} : { needs: { write } };
  }

  /** Returns why nothing was changed, if so. */
  async #apply(): Promise<string | undefined> {
    const applied: PlannedChange[] = [];
    // Expected: a file that changed during the approval, a full disk, a folder without permission.
    try {
      for (const change of this.#changes) {
        await apply(change);
        applied.push(change);
      }
    } catch (thrown) {
      return [errorMessage(thrown), ...(await rollBack(applied))].join(" ");
    }
    for (const change of applied) this.#recordVersion(change);
    return undefined;
  }

  #recordVersion({ file, movedTo, after }: PlannedChange): void {
    if (movedTo !== undefined || after === undefined) this.#fileVersions.delete(file.path);
    if (after !== undefined) this.#fileVersions.set((movedTo ?? file).path, after);
  }
}

/** Reports a change that was not attempted, so that the user sees what the agent requested. */
export function markChangeFailed(
  requested: readonly Pick<FileUpdateChange, "path" | "kind">[],
  reason: string,
  context: ToolContext,
): ToolOutcome {
  const { turn, itemId } = context;
  const changes = requested.map(
    ({ path, kind }): FileUpdateChange => ({ path: resolve(turn.settings.cwd, path), kind, diff: "" }),
  );
  const item: FileItem = { type: "fileChange", id: itemId, changes, status: "inProgress" };
  startChange(item, context);
  turn.emit({ type: "item/completed", item: { ...item, status: "failed", output: reason } });
  return failed(reason);
}

/** Shows the whole change, in the item that started while the model wrote it if there is one. */
function startChange(item: FileItem, { turn, isStarted }: ToolContext): void {
  const { id: itemId, changes } = item;
  turn.emit(
    isStarted === true
      ? { type: "item/fileChange/patchUpdated", itemId, changes }
      : { type: "item/started", item },
  );
}

async function updateOf({ file, before, after, movedTo }: PlannedChange): Promise<FileUpdateChange> {
  const kind = before === undefined ? "add" : after === undefined ? "delete" : "modify";
  const names = {
    path: file.relativePath,
    ...(movedTo === undefined ? {} : { newPath: movedTo.relativePath }),
  };
  const diff = await unifiedDiff({ ...names, before: before?.text, after });
  return { path: file.path, kind, diff, ...(movedTo === undefined ? {} : { movePath: movedTo.path }) };
}

function described({ file, before, after, movedTo }: PlannedChange): string {
  const { relativePath } = file;
  if (movedTo !== undefined) return `${relativePath} was moved to ${movedTo.relativePath}.`;
  if (before === undefined) return `${relativePath} was added.`;
  return after === undefined ? `${relativePath} was deleted.` : `${relativePath} was changed.`;
}

async function apply({ file, before, after, movedTo }: PlannedChange): Promise<void> {
  if (before === undefined) return after === undefined ? undefined : file.create(after);
  if (after === undefined) return file.remove(before.text);
  if (movedTo === undefined) return file.replace(before.text, after);
  await movedTo.create(after, before.mode);
  // Expected: the file changed in the meantime. Then it must not be moved either.
  try {
    await file.remove(before.text);
  } catch (error) {
    await movedTo.undoCreate(after);
    throw error;
  }
}

/** Undoes changes, the last one first. Returns a message for each that could not be undone. */
async function rollBack(applied: readonly PlannedChange[]): Promise<string[]> {
  const problems: string[] = [];
  for (const change of applied.toReversed()) {
    // Expected: another program changed the file again. Its change is not overwritten.
    try {
      await undo(change);
    } catch (thrown) {
      problems.push(`${change.file.relativePath} could not be restored: ${errorMessage(thrown)}`);
    }
  }
  return problems;
}

async function undo({ file, before, after, movedTo }: PlannedChange): Promise<void> {
  if (after === undefined) return before === undefined ? undefined : file.create(before.text, before.mode);
  if (before === undefined) return file.undoCreate(after);
  if (movedTo === undefined) return file.replace(after, before.text);
  await file.create(before.text, before.mode);
  await movedTo.undoCreate(after);
}
