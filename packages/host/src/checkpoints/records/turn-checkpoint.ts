import { resolve } from "node:path";
import type { CheckpointedTurn, TurnCheckpoint } from "@flint/core/ports";
import type { NotSavedReason } from "@flint/protocol";
import { isProtected, resolveParent, rootOf } from "../disk/roots.ts";
import { type CaptureContext, capture, currentState } from "../scan/capture.ts";
import { type Change, type State, sameState } from "../scan/entry.ts";
import { changesBetween, type Manifest } from "../scan/manifest.ts";
import type { Workspace } from "../scan/workspace.ts";
import type { JournalLine, RecordKey, ThreadRecords } from "./thread-records.ts";

/** Dependencies of a turn's checkpoint. */
export interface FileTurnCheckpointOptions {
  readonly turn: CheckpointedTurn;
  readonly context: CaptureContext;
  readonly workspace: Workspace;
  readonly records: ThreadRecords;
}

/** The checkpoint of one running turn. What it records is on the disk before the turn continues. */
export class FileTurnCheckpoint implements TurnCheckpoint {
  readonly #options: FileTurnCheckpointOptions;
  readonly #touched = new Map<string, State>();
  readonly #notSaved = new Map<string, NotSavedReason>();
  /** Aborted when the turn ends, however it ends. */
  readonly #ended = new AbortController();
  #key: RecordKey | undefined;
  #snapshot: Manifest | undefined;
  #scanning: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: FileTurnCheckpointOptions) {
    this.#options = options;
  }

  saveFiles(paths: readonly string[]): void {
    for (const path of paths) {
      try {
        this.#saveFile(path);
      } catch (error) {
        // Usually a full disk. The turn continues, and an undo reports the file as not saved.
        this.#notSaved.set(path, "failed");
        this.#fail(error);
      }
    }
  }

  async saveWorkspace(signal: AbortSignal): Promise<void> {
    // Callers share a running scan; after one that failed, the next call tries again.
    this.#scanning ??= this.#saveSnapshot(AbortSignal.any([signal, this.#ended.signal])).finally(() => {
      if (this.#snapshot === undefined) this.#scanning = undefined;
    });
    await this.#scanning;
  }

  async end(): Promise<void> {
    const { records, context, workspace, turn } = this.#options;
    this.#ended.abort();
    await this.#scanning;
    if (this.#key === undefined) return;
    const before: StateBefore = {
      touched: this.#touched,
      snapshot: this.#snapshot,
      notSaved: this.#notSaved,
    };
    try {
      const { changes, notSaved } = await changesOfTurn(context, workspace, before);
      const { roots } = workspace;
      await records.write(this.#key, { id: turn.turnId, kind: "turn", roots, changes, notSaved });
    } catch (error) {
      // The state before is in the journal; the state after is recorded when it is next needed.
      this.#fail(error);
    }
  }

  async #saveSnapshot(signal: AbortSignal): Promise<void> {
    try {
      const snapshot = await this.#options.workspace.snapshot(signal);
      this.#append({ snapshot: await this.#options.workspace.store(snapshot) });
      this.#snapshot = snapshot;
    } catch (error) {
      // Stopped with its turn, or a write failed.
      if (!signal.aborted) this.#fail(error);
    }
  }

  #saveFile(given: string): void {
    const { context, workspace } = this.#options;
    const path = resolveParent(context.disk, resolve(workspace.roots[0] ?? "/", given));
    const root = rootOf(path, workspace.roots);
    if (root === undefined || isProtected(path, root)) {
      this.#cannotSave(path, root === undefined ? "outside" : "protected");
      return;
    }
    for (const missing of missingFolders(context, path, root)) this.#remember(missing, undefined);
    if (this.#knows(path)) return;
    const state = capture(context, path, true);
    if (state?.kind === "unsaved") this.#cannotSave(path, state.why);
    this.#remember(path, state);
    if (state?.kind === "folder") this.#saveContent(path);
  }

  /** An edit may replace a folder by a file, and then needs everything in it. */
  #saveContent(folder: string): void {
    for (const { name } of this.#options.context.disk.list(folder)) {
      if (this.#touched.size < MAX_EDITED) this.#saveFile(`${folder}/${name}`);
      else this.#cannotSave(folder, "limit");
    }
  }

  /** Only the first state counts, from before the turn changed it. */
  #remember(path: string, before: State): void {
    if (this.#knows(path)) return;
    this.#append({ path, before });
    this.#touched.set(path, before);
  }

  #knows(path: string): boolean {
    if (this.#touched.has(path)) return true;
    if (this.#snapshot === undefined) return false;
    const known = this.#snapshot.stateOf(path);
    return known !== "unknown" && known?.kind !== "unsaved";
  }

  #cannotSave(path: string, why: NotSavedReason): void {
    if (this.#notSaved.has(path)) return;
    this.#notSaved.set(path, why);
    this.#append({ notSaved: [path, why] });
  }

  #append(line: JournalLine): void {
    const { records, turn, workspace } = this.#options;
    if (this.#key === undefined) {
      const key = records.next(turn.turnId);
      records.appendJournal(key, { roots: workspace.roots });
      this.#key = key;
    }
    records.appendJournal(this.#key, line);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.turn.onError(error);
  }
}

/** The parent folders of a path that do not exist yet, outermost first. */
function missingFolders({ disk }: CaptureContext, path: string, root: string): readonly string[] {
  const missing: string[] = [];
  for (let end = path.lastIndexOf("/"); end > root.length; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end);
    if (disk.stat(folder) !== undefined) break;
    missing.unshift(folder);
  }
  return missing;
}

/** The state before a turn, as far as it was saved. */
export interface StateBefore {
  /** Files that were saved one by one, before the turn first changed them. */
  readonly touched: ReadonlyMap<string, State>;
  /** The whole workspace, if it was scanned. */
  readonly snapshot: Manifest | undefined;
  readonly notSaved: ReadonlyMap<string, NotSavedReason>;
}

/** The changes that a turn made, and what could not be saved. */
export interface TurnChanges {
  readonly changes: readonly Change[];
  readonly notSaved: readonly (readonly [path: string, why: NotSavedReason])[];
}

/** The number of files that an edit may save one by one. */
const MAX_EDITED = 2_000;

/** A longer list would not be read to its end. */
const MAX_NOT_SAVED = 500;

/** Compares the current state with the state before a turn. */
export async function changesOfTurn(
  context: CaptureContext,
  workspace: Workspace,
  before: StateBefore,
): Promise<TurnChanges> {
  const current = (path: string): State => currentIn(context, workspace, path);
  const changes = new Map<string, Change>();
  const notSaved = new Map(before.notSaved);
  if (before.snapshot !== undefined) {
    const after = await workspace.snapshot(new AbortController().signal);
    const found = changesBetween(before.snapshot, after, (path) => absentOr(after, path, current));
    for (const change of found) changes.set(change.path, change);
    for (const [path, why] of [...before.snapshot.unscanned(), ...after.unscanned()]) notSaved.set(path, why);
  }
  for (const [path, was] of before.touched) {
    const is = current(path);
    if (sameState(was, is)) changes.delete(path);
    else changes.set(path, { path, before: was, after: is });
  }
  for (const root of workspace.roots) changes.delete(root);
  return { changes: [...changes.values()], notSaved: shortened(notSaved) };
}

/** A path that is missing from a scanned folder does not exist; any other is captured. */
function absentOr(after: Manifest, path: string, current: (path: string) => State): State {
  if (after.entries.has(path)) return current(path);
  return after.stateOf(path) === undefined ? undefined : current(path);
}

/**
 * Returns the current state of a path. Content behind a link is not part of the workspace, so it counts as
 * nothing.
 */
function currentIn(context: CaptureContext, { roots }: Workspace, path: string): State {
  const root = rootOf(path, roots);
  const state = root === undefined ? undefined : currentState(context, path, root, false);
  return state === "blocked" ? undefined : state;
}

function shortened(notSaved: ReadonlyMap<string, NotSavedReason>): [string, NotSavedReason][] {
  const all = [...notSaved];
  return all.length <= MAX_NOT_SAVED ? all : [...all.slice(0, MAX_NOT_SAVED), ["…", "limit"]];
}
