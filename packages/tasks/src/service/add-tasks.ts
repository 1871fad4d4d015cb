import { type LimitPolicy, mintId, type Params, type TaskSpec, type TaskState } from "@flint/protocol";
import { TaskRefusal } from "../decide/decision.ts";
import type { TaskWorkspaces } from "../run/task-workspaces.ts";
import { waitReason } from "../schedule.ts";
import { findCycle, resolveSpec } from "../spec.ts";
import type { TaskStore } from "../store/task-store.ts";

/** Dependencies of adding tasks. */
export interface AddOptions {
  readonly store: Pick<TaskStore, "add" | "list">;
  readonly workspaces: Pick<TaskWorkspaces, "share">;
  readonly now: () => number;
  /** The reaction to a usage limit, for tasks that do not choose one. */
  readonly limits?: Partial<LimitPolicy> | undefined;
  /** The remote of tasks that do not name one, for workers that have the repository elsewhere. */
  readonly remote?: string | undefined;
}

/**
 * Adds tasks that may depend on each other and on tasks that are there already, and returns their states. Throws a
 * `TaskRefusal` before anything is added if one of them cannot be.
 */
export async function addTasks(
  { store, workspaces, limits, remote, now }: AddOptions,
  inputs: Params<"task/add">["tasks"],
  by: string,
): Promise<TaskState[]> {
  const names = new Set(inputs.flatMap(({ name }) => name ?? []));
  const cycle = findCycle(
    new Map(inputs.flatMap(({ name, after = [] }) => (name === undefined ? [] : [[name, after]]))),
  );
  if (cycle !== undefined) throw new TaskRefusal(`Circular dependency: ${cycle.join(" → ")}.`);
  const known = new Map((await store.list()).map((state) => [state.id, state]));
  for (const { after = [] } of inputs)
    for (const id of after)
      if (!names.has(id) && !known.has(id)) throw new TaskRefusal(`There is no task ${id} to depend on.`);
  // Everything is checked before anything is added.
  const resolved = inputs.map(({ name: _name, clientId: _key, ...request }) =>
    resolveSpec(remote === undefined ? request : { remote: { url: remote }, ...request }, limits),
  );
  const specs = await shared(resolved, workspaces);
  const ids = new Map<string, string>();
  // None waits for the answer to another, so that all of them share a sync or two to disk.
  const adding: Promise<TaskState>[] = [];
  for (const index of inOrder(inputs)) {
    const spec = specs[index];
    const input = inputs[index];
    if (spec === undefined || input === undefined) continue;
    const { name, clientId: key } = input;
    const after = spec.after.map((before) => ids.get(before) ?? before);
    const own = { ...spec, after };
    const isLater = after.some((before) => !known.has(before));
    const waiting = isLater || waitReason({ spec: own }, (id) => known.get(id), now()) !== undefined;
    // A task with a key may be there already, under an id that only the store knows.
    const id = key === undefined ? mintId() : undefined;
    adding.push(store.add({ id, spec: own, by, waiting, key }));
    if (name !== undefined) ids.set(name, id ?? (await Promise.all(adding)).at(-1)?.id ?? name);
  }
  return Promise.all(adding);
}

/** Tasks of a file that start from the same commit share it once. */
async function shared(
  specs: readonly TaskSpec[],
  workspaces: Pick<TaskWorkspaces, "share">,
): Promise<TaskSpec[]> {
  const pushed = new Map<string, Promise<TaskSpec>>();
  return Promise.all(
    specs.map(async (spec) => {
      if (spec.remote === undefined) return spec;
      const key = JSON.stringify([spec.cwd, spec.base, spec.remote.url]);
      const sharing = pushed.get(key) ?? workspaces.share(spec);
      pushed.set(key, sharing);
      return { ...spec, remote: (await sharing).remote };
    }),
  );
}

/** Positions such that a task comes after those that it names. */
function inOrder(
  inputs: readonly { readonly name?: string | undefined; readonly after?: readonly string[] | undefined }[],
): number[] {
  const byName = new Map(
    inputs.flatMap(({ name }, index) => (name === undefined ? [] : [[name, index] as const])),
  );
  const order = new Set<number>();
  const visit = (index: number): void => {
    if (order.has(index)) return;
    for (const name of inputs[index]?.after ?? []) {
      const before = byName.get(name);
      if (before !== undefined && before !== index) visit(before);
    }
    order.add(index);
  };
  for (const index of inputs.keys()) visit(index);
  return [...order];
}
