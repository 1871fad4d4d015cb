import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

const amount = z.number().check(z.positive("must be more than 0"));
const count = z.int().check(z.minimum(1, "must be at least 1"));

/** Limits of one turn. `seconds` is working time: waiting for the user does not count. `steps` are model calls. */
export const TurnBudget = looseObject(() => ({
  tokens: z.optional(count),
  costUsd: z.optional(amount),
  seconds: z.optional(amount),
  steps: z.optional(count),
}));
export type TurnBudget = z.output<typeof TurnBudget>;

/** Limits of all turns of a thread together. */
export const ThreadBudget = looseObject(() => ({
  tokens: z.optional(count),
  costUsd: z.optional(amount),
  seconds: z.optional(amount),
  turns: z.optional(count),
}));
export type ThreadBudget = z.output<typeof ThreadBudget>;

/** Enforcement of limits: with `bestEffort`, agents that do not report what a limit counts run all the same. */
export const BudgetEnforcement = z.enum(["strict", "bestEffort"]);
export type BudgetEnforcement = z.output<typeof BudgetEnforcement>;

/**
 * Limits of a thread and of each of its turns. Reaching one pauses the turn and asks; if no client can be asked, the
 * turn fails. A turn whose agent does not report what a limit counts is rejected, unless `enforcement` is `bestEffort`.
 * `extended` is how far the user has extended the budget of the thread since; Flint sets it, and a new `thread` resets
 * it.
 */
export const Budget = looseObject(() => ({
  enforcement: z.optional(BudgetEnforcement),
  turn: z.optional(TurnBudget),
  thread: z.optional(ThreadBudget),
  extended: z.optional(ThreadBudget),
}));
export type Budget = z.output<typeof Budget>;

/**
 * A budget with a change applied: each of its two parts is replaced whole, and an empty part removes the limit. What
 * the user has extended only changes with the user's answers.
 */
export function changedBudget(current: Budget | undefined, change: Budget): Budget | undefined {
  const { extended: _extended, ...unextended } = current ?? {};
  const { extended: _ignored, ...changes } = change;
  const next: Budget = { ...(change.thread === undefined ? current : unextended), ...changes };
  for (const part of ["turn", "thread", "extended"] as const) {
    if (Object.keys(next[part] ?? {}).length === 0) delete next[part];
  }
  return Object.keys(next).length === 0 ? undefined : next;
}
