import {
  accountsOfRole,
  agentOfModel,
  type LimitPolicy,
  nextRole,
  type Role,
  type TaskEventType,
  type TaskState,
  type UsageLimit,
} from "@flint/protocol";
import type { TaskChange } from "./store/task-store.ts";

/** An account that has met a usage limit and after that has not got a turn through yet. */
export interface AccountState {
  readonly name: string;
  /** Time until which the limit keeps it from working; in the past if it may be tried. */
  readonly limitedUntilMs: number;
  /** The same for a limit that no task has met, but a thread; 0 if there is none. */
  readonly reportedUntilMs: number;
  /** True if a first turn after the limit is under way. */
  readonly probing: boolean;
}

/** The accounts after a usage limit, by name. */
export type Accounts = ReadonlyMap<string, AccountState>;

/** A limit that some thread has met, as far as it says when it resets. */
export interface ReportedAccount {
  readonly name: string;
  readonly limitedAt: number;
  readonly untilMs: number;
}

/**
 * The accounts at a limit in what the agents reported, with the model of roles that name none. A limit that does not say when
 * it resets is left out: a task that meets it asks the user. So is one of a single provider of an agent with several.
 */
export function reportedAccounts(
  limits: readonly UsageLimit[],
  defaultModel: string | undefined,
): readonly ReportedAccount[] {
  return limits.flatMap(({ agent, account, model, status, needsUser, resetsAtMs, reportedAtMs }) => {
    if (status !== "reached" || needsUser === true || account !== undefined || resetsAtMs === undefined)
      return [];
    const name = model === undefined ? agent : `${agent}/${model}`;
    const isDefault =
      defaultModel === name || (model === undefined && agentOfModel(defaultModel ?? "") === agent);
    const names = isDefault ? [name, NO_NAME] : [name];
    return names.map((each) => ({ name: each, limitedAt: reportedAtMs, untilMs: resetsAtMs }));
  });
}

/** The account of roles that name no model. */
const [NO_NAME] = accountsOfRole({});

/** The latest observations of an account by all tasks together. */
interface Shown {
  passedAt: number;
  triedAt: number;
  limitedAt: number;
}

/**
 * Returns the state of the accounts that the tasks work with. A limit counts until a turn that began after it
 * got through, even if its task has long ended or continued with another agent. A user who has a limited task
 * continue has the account tried.
 */
export function accountsOf(tasks: readonly TaskState[], reported: readonly ReportedAccount[] = []): Accounts {
  const shown = latest(tasks);
  const accounts = new Map<string, AccountState>();
  for (const { name, limitedAt, untilMs } of reported) {
    const { passedAt = 0, triedAt = 0 } = shown.get(name) ?? {};
    if (limitedAt <= Math.max(passedAt, triedAt)) continue;
    const reportedUntilMs = Math.max(accounts.get(name)?.reportedUntilMs ?? 0, untilMs);
    accounts.set(name, { name, limitedUntilMs: 0, reportedUntilMs, probing: false });
  }
  for (const { accounts: marks } of tasks)
    for (const [name, { limitedAt = 0, untilMs = 0 }] of Object.entries(marks)) {
      const { passedAt = 0, triedAt = 0 } = shown.get(name) ?? {};
      if (limitedAt <= passedAt) continue;
      const until = limitedAt > triedAt ? untilMs : 0;
      const known = accounts.get(name);
      const limitedUntilMs = Math.max(known?.limitedUntilMs ?? 0, until);
      accounts.set(name, {
        name,
        limitedUntilMs,
        reportedUntilMs: known?.reportedUntilMs ?? 0,
        probing: false,
      });
    }
  if (accounts.size === 0) return accounts;
  for (const task of tasks)
    for (const name of namesInUse(task)) {
      const account = accounts.get(name);
      // A turn that began before the limit says nothing about the time after it.
      const startedAt = task.accounts[name]?.startedAt ?? Number.POSITIVE_INFINITY;
      if (account !== undefined && startedAt > (shown.get(name)?.limitedAt ?? 0))
        accounts.set(name, { ...account, probing: true });
    }
  return accounts;
}

function latest(tasks: readonly TaskState[]): ReadonlyMap<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const { accounts } of tasks)
    for (const [name, mark] of Object.entries(accounts)) {
      const known = shown.get(name) ?? { passedAt: 0, triedAt: 0, limitedAt: 0 };
      known.passedAt = Math.max(known.passedAt, mark.passedAt ?? 0);
      known.triedAt = Math.max(known.triedAt, mark.triedAt ?? 0);
      known.limitedAt = Math.max(known.limitedAt, mark.limitedAt ?? 0);
      shown.set(name, known);
    }
  return shown;
}

/** The accounts that a running task works with, or will once it has its folder. */
function namesInUse(task: TaskState): readonly string[] {
  if (task.phase !== "running" || task.step === "check" || task.step === "merge") return [];
  const [role] = nextRole(task).agents;
  return role === undefined ? [] : accountsOfRole(role);
}

/** Returns the time until which an agent cannot work because of a limit; 0 if it can. */
export function limitedUntil(role: Role, accounts: Accounts): number {
  return latestOf(role, accounts, ({ limitedUntilMs, reportedUntilMs }) =>
    Math.max(limitedUntilMs, reportedUntilMs),
  );
}

/**
 * Until when a task waits for an agent because of a limit; 0 if it does not. For a limit that no task has met it waits only if
 * its own rules say so: otherwise it meets it too, and asks or fails.
 */
export function waitsUntil(role: Role, accounts: Accounts, policy: LimitPolicy, now: number): number {
  const waits = (untilMs: number) =>
    policy.resume === "auto" && untilMs - now <= policy.maxWaitSeconds * 1000 ? untilMs : 0;
  return latestOf(role, accounts, ({ limitedUntilMs, reportedUntilMs }) =>
    Math.max(limitedUntilMs, waits(reportedUntilMs)),
  );
}

function latestOf(role: Role, accounts: Accounts, untilOf: (account: AccountState) => number): number {
  const found = accountsOfRole(role).map((name) => accounts.get(name));
  return Math.max(0, ...found.map((account) => (account === undefined ? 0 : untilOf(account))));
}

/** The events after which an account may be free for the next task, besides those that make a task ready itself. */
const FREEING: ReadonlySet<TaskEventType> = new Set<TaskEventType>([
  ...(["round/executed", "round/checked", "round/reviewed", "task/fallback"] as const),
  ...(["task/suspended", "task/asking", "task/reviewed", "task/ended", "task/cancelled"] as const),
]);

/** Reports whether more tasks may be ready to run after a change than before. */
export function mayOfferMore({ state, events }: TaskChange): boolean {
  return state.phase === "ready" || events.some(({ type }) => FREEING.has(type));
}
