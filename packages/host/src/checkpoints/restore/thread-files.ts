import { storageFailed } from "@flint/core/ports";
import { type FlintError, mintId } from "@flint/protocol";
import { TimeSlice } from "../disk/disk.ts";
import { namesWithin, rootOf } from "../disk/roots.ts";
import type {
  FilesRecord,
  JournalLine,
  RecordKey,
  RecordKind,
  ThreadRecords,
} from "../records/thread-records.ts";
import { changesOfTurn, type StateBefore, type TurnChanges } from "../records/turn-checkpoint.ts";
import { type CaptureContext, currentState, OpenFolder } from "../scan/capture.ts";
import { type Change, sameState } from "../scan/entry.ts";
import type { Workspace } from "../scan/workspace.ts";
import { type DiskView, type Plan, planFiles, type Step } from "./plan.ts";
import { recoverPath, restoreFolderMode, restorePath } from "./restore-path.ts";

/** Dependencies for restoring the files of a thread. */
export interface ThreadFilesOptions {
  readonly context: CaptureContext;
  readonly records: ThreadRecords;
  workspace(roots: readonly string[]): Workspace;
}

/** Restores the files of one thread to earlier states, and undoes that. */
export class ThreadFiles {
  readonly #options: ThreadFilesOptions;

  constructor(options: ThreadFilesOptions) {
    this.#options = options;
  }

  /** Completes the records that an earlier process left unfinished, except those of `running` turns. */
  async settle(running: ReadonlySet<string>): Promise<void> {
    const { records } = this.#options;
    const { turns, restores } = records.unfinished();
    for (const key of turns) if (!running.has(key.id)) await this.#settleTurn(key);
    for (const key of restores) {
      const record = records.intent(key);
      if (record !== undefined) await this.#settleApplied(key, record);
    }
  }

  /** Plans a restore to before these turns. */
  preview(turnIds: ReadonlySet<string>): { readonly plan: Plan; readonly saved: readonly string[] } {
    const { plan, saved } = this.#plan(turnIds, false);
    return { plan, saved };
  }

  /** Restores the files to before these turns. The returned plan has what was actually done. */
  async restore(
    turnIds: ReadonlySet<string>,
    revertId: string,
  ): Promise<{ readonly plan: Plan; readonly saved: readonly string[] }> {
    const { plan, saved } = this.#plan(turnIds, true);
    return { plan: await this.#apply(plan, revertId, "revert"), saved };
  }

  /** Undoes a restore. Undefined if there is none with this id. */
  async undo(revertId: string): Promise<Plan | undefined> {
    const records = this.#options.records.all();
    const record = records.find(({ id, kind }) => id === revertId && kind === "revert");
    if (record === undefined) return undefined;
    return this.#apply(planFiles([record], this.#view(true)), mintId(), "undo");
  }

  #plan(turnIds: ReadonlySet<string>, store: boolean): { plan: Plan; saved: readonly string[] } {
    const all = this.#options.records.all();
    const first = all.findIndex(({ id, kind }) => kind === "turn" && turnIds.has(id));
    // Includes everything recorded since, also turns that were reverted before, and those reverts.
    const records = first === -1 ? [] : all.slice(first);
    const saved = records.filter(({ id, kind }) => kind === "turn" && turnIds.has(id)).map(({ id }) => id);
    return { plan: planFiles(records, this.#view(store)), saved };
  }

  /** With `store`, the current content is stored, so that the restore can be undone. */
  #view(store: boolean): DiskView {
    const { context } = this.#options;
    return {
      current: (path, root) => guarded(() => currentState(context, path, root, store)),
      children: (path, root) => childrenOf(context, path, root),
      isStored: (entry) => entry.kind !== "file" || guarded(() => context.blobs.touch(entry.hash)),
    };
  }

  async #apply(plan: Plan, id: string, kind: RecordKind): Promise<Plan> {
    if (plan.steps.length === 0) return plan;
    const { records } = this.#options;
    const key = records.next(id);
    await records.writeIntent(key, recordOf(plan.steps, id, kind)).catch((error: unknown) => {
      throw cannotSave(error);
    });
    const { done, conflicts } = await this.#restoreAll(plan.steps, id);
    await records.write(key, recordOf(done, id, kind)).catch(() => undefined);
    return { ...plan, steps: done, conflicts: [...plan.conflicts, ...conflicts] };
  }

  async #restoreAll(steps: readonly Step[], id: string): Promise<{ done: Step[]; conflicts: Conflict[] }> {
    const slice = new TimeSlice();
    const done: Step[] = [];
    const conflicts: Conflict[] = [];
    for (const step of steps) {
      if (slice.isOver) await slice.pause();
      const result = await restorePath(this.#options.context, step, id);
      if (result === "done") done.push(step);
      else conflicts.push([step.path, result]);
    }
    for (const step of done.toReversed()) await restoreFolderMode(this.#options.context.disk, step);
    return { done, conflicts };
  }

  async #settleTurn(key: RecordKey): Promise<void> {
    const { records, context } = this.#options;
    const lines = records.journal(key);
    const roots = lines.flatMap((line) => ("roots" in line ? line.roots : []));
    if (roots.length === 0) {
      records.discard(key);
      return;
    }
    const workspace = this.#options.workspace(roots);
    const { changes, notSaved }: TurnChanges = await changesOfTurn(
      context,
      workspace,
      beforeOf(lines, workspace),
    );
    await records.write(key, { id: key.id, kind: "turn", roots, changes, notSaved });
  }

  /** Keeps only the changes that were actually made. */
  async #settleApplied(key: RecordKey, record: FilesRecord): Promise<void> {
    const { records, context } = this.#options;
    const made: Change[] = [];
    for (const change of record.changes) {
      const { path, before, after } = change;
      const root = rootOf(path, record.roots);
      if (root === undefined) continue;
      const step = { path, root, current: before, target: after };
      await recoverPath(context, step, record.id);
      // The mode of a new folder is set last.
      if (before?.kind !== "folder") await restoreFolderMode(context.disk, step);
      const present = currentState(context, path, root, false);
      // Nothing can be below a link or a file.
      if (sameState(present === "blocked" ? undefined : present, after)) made.push(change);
    }
    await records.write(key, { ...record, changes: made });
  }
}

type Conflict = Plan["conflicts"][number];

function recordOf(steps: readonly Step[], id: string, kind: RecordKind): FilesRecord {
  const roots = [...new Set(steps.map(({ root }) => root))];
  const changes = steps.map(({ path, current, target }) => ({ path, before: current, after: target }));
  return { id, kind, roots, changes, notSaved: [] };
}

function beforeOf(lines: readonly JournalLine[], workspace: Workspace): StateBefore {
  const stored = lines.flatMap((line) => ("snapshot" in line ? line.snapshot : []))[0];
  const snapshot = stored === undefined ? undefined : workspace.read(stored);
  const touched = new Map(
    lines.flatMap((line) => ("path" in line ? [[line.path, line.before] as const] : [])),
  );
  const notSaved = new Map(lines.flatMap((line) => ("notSaved" in line ? [line.notSaved] : [])));
  // Without its base the state before is unknown.
  if (stored !== undefined && snapshot === undefined)
    for (const root of workspace.roots) notSaved.set(root, "failed");
  return { touched, snapshot, notSaved };
}

function childrenOf({ disk }: CaptureContext, path: string, root: string): readonly string[] {
  const folder = OpenFolder.descend(disk, root, namesWithin(path, root));
  if (!(folder instanceof OpenFolder)) return [];
  try {
    return disk.list(folder.pathOf(".")).map(({ name }) => `${path}/${name}`);
  } finally {
    folder.close();
  }
}

/** Nothing is restored unless the current content could be stored first. */
function guarded<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw cannotSave(error);
  }
}

function cannotSave(error: unknown): FlintError {
  return storageFailed("No file was touched, because what is there now could not be saved first", error);
}
