import type { TaskState } from "@flint/protocol";

/** What the scheduler knows of the accounts that agents work with. */
export interface AccountState {
  readonly key: string;
  /** Until when its usage limit keeps it from working; undefined if it may work. */
  readonly limitedUntilMs?: number | undefined;
  /** Whether a first run after the limit is under way. */
  readonly probing?: boolean | undefined;
}

/** A task that a worker may take now. */
export interface Offer {
  readonly task: TaskState;
  /** Set if it is the first one after its account's limit: the others wait for how it goes. */
  readonly probe: boolean;
}

/** The account that the next turn of a task works with, as far as it is known before the turn: its agent. */
export function accountOf({ spec, step, executor, reviewer }: TaskState): string {
  const role = step === "review" ? spec.reviewers[reviewer] : spec.executors[executor];
  return (role?.model ?? "").split("/")[0] ?? "";
}

/** The suspended tasks whose time has come. */
export function due(tasks: readonly TaskState[], now: number): TaskState[] {
  return tasks.filter(
    ({ phase, suspended }) =>
      phase === "suspended" && suspended?.untilMs !== undefined && suspended.untilMs <= now,
  );
}

/** When the next suspended or postponed task is due; undefined if none is. */
export function nextDue(tasks: readonly TaskState[]): number | undefined {
  const times = tasks.flatMap(({ phase, suspended, spec }) => {
    if (phase === "suspended" && suspended?.untilMs !== undefined) return [suspended.untilMs];
    return phase === "waiting" && spec.notBeforeMs !== undefined ? [spec.notBeforeMs] : [];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * The tasks to hand out, best first: by priority, then by how little their owner has running, then by age. An account
 * after a usage limit gets one task until that has got through.
 */
export function plan(
  tasks: readonly TaskState[],
  accounts: ReadonlyMap<string, AccountState>,
  now: number,
): Offer[] {
  const running = new Map<string, number>();
  for (const { phase, addedBy } of tasks)
    if (phase === "running") running.set(addedBy, (running.get(addedBy) ?? 0) + 1);
  const offers: Offer[] = [];
  const probed = new Set<string>();
  for (const task of inTurns(tasks, running)) {
    const account = accounts.get(accountOf(task));
    if (task.step !== "merge" && account !== undefined) {
      if ((account.limitedUntilMs ?? 0) > now) continue;
      const recovering = account.limitedUntilMs !== undefined;
      if (recovering && (account.probing === true || probed.has(account.key))) continue;
      if (recovering) probed.add(account.key);
      offers.push({ task, probe: recovering });
    } else offers.push({ task, probe: false });
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

/** What keeps a waiting task from running: its time, or the tasks it comes after. */
export type WaitReason = "time" | "dependencies" | { readonly failed: number };

/** What keeps a task from running; undefined if nothing does. */
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
