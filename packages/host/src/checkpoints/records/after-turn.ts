import type { NotSavedReason } from "@flint/protocol";
import { rootOf } from "../disk/roots.ts";
import { presentState } from "../restore/held-folder.ts";
import type { CaptureTools } from "../scan/capture.ts";
import { type Change, type State, sameState } from "../scan/entry.ts";
import { changesBetween, type Manifest } from "../scan/manifest.ts";
import type { Workspace } from "../scan/workspace.ts";

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
