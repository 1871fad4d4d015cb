import type { TaskState } from "@flint/protocol";
import { type AccountState, accountOf } from "../schedule.ts";

/**
 * What the tasks show of their accounts: one whose task is suspended at a usage limit is limited until that task is due,
 * and after that until a first one has got through.
 */
export function accountsOf(tasks: readonly TaskState[]): ReadonlyMap<string, AccountState> {
  const accounts = new Map<string, AccountState>();
  for (const task of tasks) {
    if (task.limitsInRow === 0) continue;
    const key = accountOf(task);
    const known = accounts.get(key);
    const until = task.phase === "suspended" ? (task.suspended?.untilMs ?? 0) : 0;
    accounts.set(key, {
      key,
      limitedUntilMs: Math.max(known?.limitedUntilMs ?? 0, until),
      probing: known?.probing === true || task.phase === "running",
    });
  }
  return accounts;
}
