import { storageFailed } from "@flint/core/ports";
import { type FlintError, mintId } from "@flint/protocol";
import { TimeSlice } from "../disk/disk.ts";
import { namesWithin, rootOf } from "../disk/roots.ts";
import type {
  FilesRecord,
  JournalLine,
  RecordKind,
  RecordPlace,
  ThreadRecords,
} from "../records/thread-records.ts";
import { type Aftermath, afterwards, type Before } from "../records/turn-checkpoint.ts";
import { type CaptureTools, HeldFolder, presentState } from "../scan/capture.ts";
import { sameState } from "../scan/entry.ts";
import type { Workspace } from "../scan/workspace.ts";
import { type Plan, planFiles, type Step, type View } from "./plan.ts";
import { discard, finishFolder, putBack, temporaryName } from "./restore-path.ts";

/** What the files of a thread are put back with. */
export interface ThreadFilesOptions {
  readonly tools: CaptureTools;
  readonly records: ThreadRecords;
  workspace(roots: readonly string[]): Workspace;
}

/** Goes back and forth in the files of one thread. */
export class ThreadFiles {
  readonly #options: ThreadFilesOptions;

  constructor(options: ThreadFilesOptions) {
    this.#options = options;
  }

  /** Finishes what an earlier process left half done. The turns named here are still running. */
  async settle(running: ReadonlySet<string>): Promise<void> {
    const { records } = this.#options;
    for (const place of records.cutOff()) if (!running.has(place.id)) await this.#settleTurn(place);
    for (const { place, record } of records.unfinished()) await this.#settleApplied(place, record);
  }

  /** What would have to be done to get back to the moment before these turns. */
  preview(turnIds: ReadonlySet<string>): { readonly plan: Plan; readonly saved: readonly string[] } {
    const { plan, saved } = this.#plan(turnIds, false);
    return { plan, saved };
  }

  /** Gets back to the moment before these turns; the plan that is given holds what was really done. */
  async restore(
    turnIds: ReadonlySet<string>,
    revertId: string,
  ): Promise<{ readonly plan: Plan; readonly saved: readonly string[] }> {
    const { plan, saved } = this.#plan(turnIds, true);
    return { plan: await this.#apply(plan, revertId, "revert"), saved };
  }

  /** Takes a way back back. Undefined if none is known by this id. */
  async undo(revertId: string): Promise<Plan | undefined> {
    const records = this.#options.records.all();
    const record = records.find(({ id, kind }) => id === revertId && kind === "revert");
    if (record === undefined) return undefined;
    return this.#apply(planFiles([record], this.#view(true)), mintId(), "undo");
  }

  #plan(turnIds: ReadonlySet<string>, keep: boolean): { plan: Plan; saved: readonly string[] } {
    const all = this.#options.records.all();
    const first = all.findIndex(({ id, kind }) => kind === "turn" && turnIds.has(id));
    // Everything that was recorded since belongs to the way: also turns that were dropped before, and ways back.
    const records = first === -1 ? [] : all.slice(first);
    const saved = records.filter(({ id, kind }) => kind === "turn" && turnIds.has(id)).map(({ id }) => id);
    return { plan: planFiles(records, this.#view(keep)), saved };
  }

  /** With `keep` everything that is looked at can be brought back later. */
  #view(keep: boolean): View {
    const { tools } = this.#options;
    return {
      present: (path, root) => guarded(() => presentState(tools, path, root, keep)),
      children: (path, root) => childrenOf(tools, path, root),
      isKept: (entry) => entry.kind !== "file" || guarded(() => tools.blobs.touch(entry.hash)),
    };
  }

  async #apply(plan: Plan, id: string, kind: RecordKind): Promise<Plan> {
    if (plan.steps.length === 0) return plan;
    const { records } = this.#options;
    const place = records.next(id);
    await records.intend(place, recordOf(plan.steps, id, kind)).catch((error: unknown) => {
      throw cannotSave(error);
    });
    const { done, conflicts } = await this.#putAllBack(plan.steps, temporaryName(id));
    await records.write(place, recordOf(done, id, kind)).catch(() => undefined);
    return { ...plan, steps: done, conflicts: [...plan.conflicts, ...conflicts] };
  }

  async #putAllBack(
    steps: readonly Step[],
    temporary: string,
  ): Promise<{ done: Step[]; conflicts: Conflict[] }> {
    const slice = new TimeSlice();
    const done: Step[] = [];
    const conflicts: Conflict[] = [];
    for (const step of steps) {
      if (slice.isOver) await slice.pause();
      const result = await putBack(this.#options.tools, step, temporary);
      if (result === "done") done.push(step);
      else conflicts.push([step.path, result]);
    }
    for (const step of done.toReversed()) await finishFolder(this.#options.tools.disk, step);
    return { done, conflicts };
  }

  async #settleTurn(place: RecordPlace): Promise<void> {
    const { records, tools } = this.#options;
    const lines = records.journal(place);
    const roots = lines.flatMap((line) => ("roots" in line ? line.roots : []));
    if (roots.length === 0) {
      records.drop(place);
      return;
    }
    const workspace = this.#options.workspace(roots);
    const { changes, notSaved }: Aftermath = await afterwards(tools, workspace, beforeOf(lines, workspace));
    await records.write(place, { id: place.id, kind: "turn", roots, changes, notSaved });
  }

  /** Only what was really put back counts as such. */
  async #settleApplied(place: RecordPlace, record: FilesRecord): Promise<void> {
    const { records, tools } = this.#options;
    const changes = record.changes.filter(({ path, after }) => {
      const root = rootOf(path, record.roots);
      if (root === undefined) return false;
      dropTemporary(tools, path, root, temporaryName(record.id));
      const present = presentState(tools, path, root, false);
      return present !== "blocked" && sameState(present, after);
    });
    await records.write(place, { ...record, changes });
  }
}

type Conflict = Plan["conflicts"][number];

function recordOf(steps: readonly Step[], id: string, kind: RecordKind): FilesRecord {
  const roots = [...new Set(steps.map(({ root }) => root))];
  const changes = steps.map(({ path, present, wanted }) => ({ path, before: present, after: wanted }));
  return { id, kind, roots, changes, notSaved: [] };
}

function beforeOf(lines: readonly JournalLine[], workspace: Workspace): Before {
  const look = lines.flatMap((line) => ("look" in line ? line.look : []))[0];
  const manifest = look === undefined ? undefined : workspace.read(look);
  const touched = new Map(
    lines.flatMap((line) => ("path" in line ? [[line.path, line.before] as const] : [])),
  );
  const notSaved = new Map(lines.flatMap((line) => ("notSaved" in line ? [line.notSaved] : [])));
  // Without its base nobody knows what was there.
  if (look !== undefined && manifest === undefined)
    for (const root of workspace.roots) notSaved.set(root, "failed");
  return { touched, look: manifest, notSaved };
}

function childrenOf({ disk }: CaptureTools, path: string, root: string): readonly string[] {
  const folder = HeldFolder.reach(disk, root, namesWithin(path, root));
  if (!(folder instanceof HeldFolder)) return [];
  try {
    return disk.list(folder.pathOf(".")).map(({ name }) => `${path}/${name}`);
  } finally {
    folder.close();
  }
}

function dropTemporary({ disk }: CaptureTools, path: string, root: string, temporary: string): void {
  const folder = HeldFolder.reach(disk, root, namesWithin(path, root).slice(0, -1));
  if (!(folder instanceof HeldFolder)) return;
  discard(disk, folder.pathOf(temporary));
  folder.close();
}

/** Nothing is put back that could not be brought back. */
function guarded<Value>(look: () => Value): Value {
  try {
    return look();
  } catch (error) {
    throw cannotSave(error);
  }
}

function cannotSave(error: unknown): FlintError {
  return storageFailed("No file was touched, because what is there now could not be saved first", error);
}
