import { resolve } from "node:path";
import type { CheckpointedTurn, TurnCheckpoint } from "@flint/core/ports";
import type { NotSavedReason } from "@flint/protocol";
import { isProtected, realPlace, rootOf } from "../disk/roots.ts";
import { type CaptureTools, capture, presentState } from "../scan/capture.ts";
import { type Change, type State, sameState } from "../scan/entry.ts";
import { changesBetween, type Manifest } from "../scan/manifest.ts";
import type { Workspace } from "../scan/workspace.ts";
import type { JournalLine, RecordPlace, ThreadRecords } from "./thread-records.ts";

/** What the files of a turn are saved with. */
export interface SavedTurnOptions {
  readonly turn: CheckpointedTurn;
  readonly tools: CaptureTools;
  readonly workspace: Workspace;
  readonly records: ThreadRecords;
}

/** Saves the files of one running turn. What is written down here is on the disk before the turn goes on. */
export class SavedTurn implements TurnCheckpoint {
  readonly #options: SavedTurnOptions;
  readonly #touched = new Map<string, State>();
  readonly #notSaved = new Map<string, NotSavedReason>();
  /** The end of what this turn does outside of its thread, whatever became of it. */
  readonly #ended = new AbortController();
  #place: RecordPlace | undefined;
  #look: Manifest | undefined;
  #looking: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: SavedTurnOptions) {
    this.#options = options;
  }

  saveFiles(paths: readonly string[]): void {
    for (const path of paths) {
      try {
        this.#saveFile(path);
      } catch (error) {
        // A full disk, mostly. The turn goes on, and whoever wants to undo it is told.
        this.#notSaved.set(path, "failed");
        this.#fail(error);
      }
    }
  }

  async saveWorkspace(signal: AbortSignal): Promise<void> {
    // Whoever comes while a look is under way waits for it; after one that failed the next one tries again.
    this.#looking ??= this.#saveAll(AbortSignal.any([signal, this.#ended.signal])).finally(() => {
      if (this.#look === undefined) this.#looking = undefined;
    });
    await this.#looking;
  }

  async end(): Promise<void> {
    const { records, tools, workspace, turn } = this.#options;
    this.#ended.abort();
    await this.#looking;
    if (this.#place === undefined) return;
    const before: Before = { touched: this.#touched, look: this.#look, notSaved: this.#notSaved };
    try {
      const { changes, notSaved } = await afterwards(tools, workspace, before);
      const { roots } = workspace;
      await records.write(this.#place, { id: turn.turnId, kind: "turn", roots, changes, notSaved });
    } catch (error) {
      // What was before is in the journal; what is there now is noted down when it is next needed.
      this.#fail(error);
    }
  }

  async #saveAll(signal: AbortSignal): Promise<void> {
    try {
      const look = await this.#options.workspace.look(signal);
      this.#note({ look: await this.#options.workspace.store(look) });
      this.#look = look;
    } catch (error) {
      // Stopped with its turn, or the disk refuses.
      if (!signal.aborted) this.#fail(error);
    }
  }

  #saveFile(given: string): void {
    const { tools, workspace } = this.#options;
    const path = realPlace(tools.disk, resolve(workspace.roots[0] ?? "/", given));
    const root = rootOf(path, workspace.roots);
    if (root === undefined || isProtected(path, root)) {
      this.#cannotSave(path, root === undefined ? "outside" : "protected");
      return;
    }
    for (const missing of missingFolders(tools, path, root)) this.#remember(missing, undefined);
    if (this.#knows(path)) return;
    const state = capture(tools, path, true);
    if (state?.kind === "unsaved") this.#cannotSave(path, state.why);
    this.#remember(path, state);
  }

  /** The first state of a turn counts; what the turn itself made of it does not. */
  #remember(path: string, before: State): void {
    if (this.#knows(path)) return;
    this.#note({ path, before });
    this.#touched.set(path, before);
  }

  #knows(path: string): boolean {
    if (this.#touched.has(path)) return true;
    if (this.#look === undefined) return false;
    const known = this.#look.stateOf(path);
    return known !== "unknown" && known?.kind !== "unsaved";
  }

  #cannotSave(path: string, why: NotSavedReason): void {
    if (this.#notSaved.has(path)) return;
    this.#notSaved.set(path, why);
    this.#note({ notSaved: [path, why] });
  }

  #note(line: JournalLine): void {
    const { records, turn, workspace } = this.#options;
    if (this.#place === undefined) {
      const place = records.next(turn.turnId);
      records.note(place, { roots: workspace.roots });
      this.#place = place;
    }
    records.note(this.#place, line);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.turn.onError(error);
  }
}

/** The folders on the way to a path that are not there yet, outermost first. */
function missingFolders({ disk }: CaptureTools, path: string, root: string): readonly string[] {
  const missing: string[] = [];
  for (let end = path.lastIndexOf("/"); end > root.length; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end);
    if (disk.stat(folder) !== undefined) break;
    missing.unshift(folder);
  }
  return missing;
}

/** What is known of the time before a turn. */
export interface Before {
  /** Files that were saved one by one, as they were when the turn first touched them. */
  readonly touched: ReadonlyMap<string, State>;
  /** Everything, if everything was looked at. */
  readonly look: Manifest | undefined;
  readonly notSaved: ReadonlyMap<string, NotSavedReason>;
}

/** What a turn did. */
export interface Aftermath {
  readonly changes: readonly Change[];
  readonly notSaved: readonly (readonly [path: string, why: NotSavedReason])[];
}

/** A list that nobody reads to its end need not be longer. */
const MOST_NOT_SAVED = 500;

/** Compares what is there now with what was there before. */
export async function afterwards(
  tools: CaptureTools,
  workspace: Workspace,
  before: Before,
): Promise<Aftermath> {
  const present = (path: string): State => presentIn(tools, workspace, path);
  const changes = new Map<string, Change>();
  const notSaved = new Map(before.notSaved);
  if (before.look !== undefined) {
    const after = await workspace.look(new AbortController().signal);
    const found = changesBetween(before.look, after, (path) => absentOr(after, path, present));
    for (const change of found) changes.set(change.path, change);
    for (const [path, why] of [...before.look.blindSpots(), ...after.blindSpots()]) notSaved.set(path, why);
  }
  for (const [path, was] of before.touched) {
    const is = present(path);
    if (sameState(was, is)) changes.delete(path);
    else changes.set(path, { path, before: was, after: is });
  }
  for (const root of workspace.roots) changes.delete(root);
  return { changes: [...changes.values()], notSaved: shortened(notSaved) };
}

/** A folder that was listed and does not name a path says enough; otherwise one has to look. */
function absentOr(after: Manifest, path: string, present: (path: string) => State): State {
  if (after.seen.has(path)) return present(path);
  return after.stateOf(path) === undefined ? undefined : present(path);
}

/** Something behind a link is not what the turn was given. */
function presentIn(tools: CaptureTools, { roots }: Workspace, path: string): State {
  const root = rootOf(path, roots);
  const state = root === undefined ? undefined : presentState(tools, path, root, false);
  return state === "blocked" ? undefined : state;
}

function shortened(notSaved: ReadonlyMap<string, NotSavedReason>): [string, NotSavedReason][] {
  const all = [...notSaved];
  return all.length <= MOST_NOT_SAVED ? all : [...all.slice(0, MOST_NOT_SAVED), ["…", "limit"]];
}
