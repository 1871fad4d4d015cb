import { accountsOfRole, nextRole, type TaskState } from "@flint/protocol";
import { type AccountState, type Accounts, limitedUntil, waitsUntil } from "./accounts.ts";

/** A task that a worker may take now. */
export interface Offer {
  readonly task: TaskState;
  /** Set if it is the first one after its account's limit: the others wait for how it goes. */
  readonly probe: boolean;
}

/** The suspended tasks whose time has come. */
export function due(tasks: readonly TaskState[], now: number): TaskState[] {
  return tasks.filter(
    ({ phase, suspended }) =>
      phase === "suspended" && suspended?.untilMs !== undefined && suspended.untilMs <= now,
  );
}

/** Returns the time at which the next suspended or postponed task is due; undefined if none is. */
export function nextDue(tasks: readonly TaskState[]): number | undefined {
  const times = tasks.flatMap(({ phase, suspended, spec }) => {
    if (phase === "suspended" && suspended?.untilMs !== undefined) return [suspended.untilMs];
    return phase === "waiting" && spec.notBeforeMs !== undefined ? [spec.notBeforeMs] : [];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Returns the time of the first reset of an account that ready tasks wait for; undefined if none do. */
export function nextRecovery(
  tasks: readonly TaskState[],
  accounts: Accounts,
  now: number,
): number | undefined {
  if (accounts.size === 0) return undefined;
  const times = tasks.filter(({ phase }) => phase === "ready").map((task) => heldUntil(task, accounts, now));
  const next = Math.min(...times.filter((time) => time > now));
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

/**
 * Reports whether tasks that are ready wait for a limit that no task has met: nothing in their store says
 * when that changes.
 */
export function waitForReport(tasks: readonly TaskState[], accounts: Accounts, now: number): boolean {
  const isReported = [...accounts.values()].some(({ reportedUntilMs }) => reportedUntilMs > now);
  return isReported && nextRecovery(tasks, accounts, now) !== undefined;
}

/**
 * Returns the time until which limits keep a task from its next turn: those of all agents that may have it.
 */
export function heldUntil(task: TaskState, accounts: Accounts, now: number): number {
  if (task.step === "merge" || accounts.size === 0) return 0;
  const ends = nextRole(task).agents.map((role) => waitsUntil(role, accounts, task.spec.limits, now));
  return ends.length === 0 ? 0 : Math.min(...ends);
}

/** The accounts with a limit behind them that a task would try now. */
function recovering(task: TaskState, accounts: Accounts, now: number): AccountState[] {
  if (task.step === "merge" || accounts.size === 0) return [];
  const role = nextRole(task).agents.find((each) => limitedUntil(each, accounts) <= now);
  const names = role === undefined ? [] : accountsOfRole(role);
  return names.map((name) => accounts.get(name)).filter((account) => account !== undefined);
}

/**
 * The tasks to hand out, best first: by priority, then by how little their owner has running, then by age. An account
 * after a usage limit gets one task until that has got through; of those that only some workers take, one of each kind,
 * because there may be no such worker.
 */
export function plan(tasks: readonly TaskState[], accounts: Accounts, now: number): Offer[] {
  const running = new Map<string, number>();
  for (const { phase, addedBy } of tasks)
    if (phase === "running") running.set(addedBy, (running.get(addedBy) ?? 0) + 1);
  const offers: Offer[] = [];
  const probed = new Set<string>();
  for (const task of inTurns(tasks, running)) {
    if (heldUntil(task, accounts, now) > now) continue;
    const tried = recovering(task, accounts, now);
    const keys = tried.map(({ name }) =>
      JSON.stringify([name, task.spec.pool, task.spec.labels?.toSorted()]),
    );
    if (tried.some(({ probing }) => probing) || keys.some((key) => probed.has(key))) continue;
    for (const key of keys) probed.add(key);
    offers.push({ task, probe: tried.length > 0 });
    running.set(task.addedBy, (running.get(task.addedBy) ?? 0) + 1);
  }
  return offers;
}

/** The ready tasks in the order of a plan, which counts meanwhile what their owners have running. */
function* inTurns(tasks: readonly TaskState[], running: ReadonlyMap<string, number>): Iterable<TaskState> {
  const priorities = new Map<number, Map<string, TaskState[]>>();
  for (const task of tasks.filter(({ phase }) => phase === "ready").sort(byPriorityThenAge)) {
    const owners = priorities.get(task.spec.priority) ?? new Map<string, TaskState[]>();
    const queue = owners.get(task.addedBy) ?? [];
    queue.push(task);
    priorities.set(task.spec.priority, owners.set(task.addedBy, queue));
  }
  for (const owners of priorities.values()) {
    const queues = [...owners.values()].map((queue) => queue.reverse());
    for (let task = takeNext(queues, running); task !== undefined; task = takeNext(queues, running))
      yield task;
  }
}

/** Takes the oldest task of an owner who has least running; of each owner only the oldest is looked at. */
function takeNext(queues: readonly TaskState[][], running: ReadonlyMap<string, number>) {
  const load = ({ addedBy }: TaskState) => running.get(addedBy) ?? 0;
  let best: TaskState[] | undefined;
  for (const queue of queues) {
    const [task, least] = [queue.at(-1), best?.at(-1)];
    if (task === undefined) continue;
    if (least === undefined || (load(task) - load(least) || byPriorityThenAge(task, least)) < 0) best = queue;
  }
  return best?.pop();
}

function byPriorityThenAge(left: TaskState, right: TaskState): number {
  return (
    right.spec.priority - left.spec.priority || left.addedAt - right.addedAt || left.number - right.number
  );
}

/** The condition that a waiting task waits for: its time, or the tasks it comes after. */
export type WaitReason = "time" | "dependencies" | { readonly failed: number };

/** Returns the condition that a task waits for; undefined if there is none. */
export function waitReason(
  { spec }: Pick<TaskState, "spec">,
  find: (id: string) => TaskState | undefined,
  now: number,
): WaitReason | undefined {
  const before = spec.after.map(find);
  const failed = before.find(
    (task) => task === undefined || task.phase === "failed" || task.phase === "cancelled",
  );
  if (before.some((task) => task === undefined || task.phase === "failed" || task.phase === "cancelled")) {
    if (spec.onDependencyFailed !== "continue") return { failed: failed?.number ?? 0 };
  }
  const open = before.some((task) => task !== undefined && task.phase !== "done" && !isOver(task));
  if (open) return "dependencies";
  return spec.notBeforeMs !== undefined && spec.notBeforeMs > now ? "time" : undefined;
}

function isOver({ phase }: TaskState): boolean {
  return phase === "failed" || phase === "cancelled";
}
