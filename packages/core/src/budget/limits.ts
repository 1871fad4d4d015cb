import {
  type Answers,
  type Budget,
  FlintError,
  type ThreadBudget,
  type ThreadState,
  type TokenUsage,
  type TurnError,
  totalTokens,
  type UserQuestion,
} from "@flint/protocol";

/** Unit of a limit. */
export type Unit = "tokens" | "costUsd" | "seconds" | "steps" | "turns";

/** Used amount of each unit. */
export type Usage = Readonly<Partial<Record<Unit, number>>>;

/** Allowed amount of each unit. */
export type Limits = Readonly<Partial<Record<Unit, number | undefined>>>;

/** A limit that is used up. */
export interface ReachedLimit {
  readonly scope: "turn" | "thread";
  readonly unit: Unit;
  /** The limit as it was set. */
  readonly amount: number;
  /** The limit with the user's extensions. */
  readonly limit: number;
  readonly used: number;
}

const UNITS: readonly Unit[] = ["tokens", "costUsd", "seconds", "steps", "turns"];

/** The limits that are used up. `extended` are the limits as the user has extended them. */
export function reachedOf(
  scope: ReachedLimit["scope"],
  limits: Limits | undefined,
  extended: Limits | undefined,
  usage: Usage,
): ReachedLimit[] {
  return UNITS.flatMap((unit) => {
    const amount = limits?.[unit];
    const used = usage[unit];
    if (amount === undefined || used === undefined) return [];
    const limit = Math.max(amount, extended?.[unit] ?? 0);
    return used >= limit ? [{ scope, unit, amount, limit, used }] : [];
  });
}

/** The further of two extensions, unit by unit. */
export function largestExtension(left: Limits | undefined, right: Limits | undefined): Limits {
  const further: Partial<Record<Unit, number>> = {};
  for (const unit of UNITS) {
    const limit = Math.max(left?.[unit] ?? 0, right?.[unit] ?? 0);
    if (limit > 0) further[unit] = limit;
  }
  return further;
}

/** A budget with the user's extensions of the thread's limits. */
export function extendedBudget(budget: Budget | undefined, by: Limits): Budget {
  const { tokens, costUsd, seconds, turns } = largestExtension(budget?.extended, by);
  const extended: ThreadBudget = {};
  if (tokens !== undefined) extended.tokens = tokens;
  if (costUsd !== undefined) extended.costUsd = costUsd;
  if (seconds !== undefined) extended.seconds = seconds;
  if (turns !== undefined) extended.turns = turns;
  return { ...budget, extended };
}

/** The usage of a model call without amounts that cannot be, such as negative ones; itself if there are none. */
export function sanitizedUsage(usage: TokenUsage): TokenUsage {
  const entries = Object.entries(usage);
  const isPossible = (amount: unknown) =>
    typeof amount !== "number" || (Number.isFinite(amount) && amount >= 0);
  if (entries.every(([, amount]) => isPossible(amount))) return usage;
  return {
    ...usage,
    ...Object.fromEntries(entries.filter(([, amount]) => !isPossible(amount)).map(([name]) => [name, 0])),
  };
}

/**
 * Returns the usage of all turns of a thread together. Cost counts only in dollars, the currency of the
 * limit.
 */
export function usageOfThread(state: ThreadState): Usage {
  const { usage, cost, workedMs, endedTurns } = state;
  const money = cost?.currency === "USD" ? { costUsd: cost.amount } : {};
  return { tokens: totalTokens(usage), seconds: workedMs / 1_000, turns: endedTurns, ...money };
}

/** Throws `budgetExceeded` if nothing is left for another turn of the thread. */
export function rejectIfExhausted(state: ThreadState, budget: Budget | undefined): void {
  const [reached] = reachedOf("thread", budget?.thread, budget?.extended, usageOfThread(state));
  if (reached === undefined) return;
  const { unit, limit, used } = reached;
  const message = `Thread ${state.thread.id} has reached ${describeLimit(reached)}. Raise ${nameOf(reached)} to continue.`;
  throw new FlintError("budgetExceeded", message, { limit: `thread.${unit}`, amount: limit, used });
}

/** A limit as the configuration names it. */
export function nameOf({ scope, unit }: Pick<ReachedLimit, "scope" | "unit">): string {
  return `budget.${scope}.${unit === "costUsd" ? "cost_usd" : unit}`;
}

/** A limit and how much of it was used, as text. */
export function describeLimit({ unit, limit, used }: ReachedLimit): string {
  return `its limit of ${formatAmount(unit, limit)} (${formatAmount(unit, used)} used)`;
}

/** An amount with its unit. */
export function formatAmount(unit: Unit, amount: number): string {
  const number = Number(amount.toFixed(unit === "costUsd" ? 4 : 1));
  const plural = number === 1 ? "" : "s";
  switch (unit) {
    case "tokens":
      return `${number} token${plural}`;
    case "costUsd":
      return `$${number}`;
    case "seconds":
      return `${number} second${plural} of work`;
    case "steps":
      return `${number} model call${plural}`;
    case "turns":
      return `${number} turn${plural}`;
  }
}

const QUESTION_ID = "budget";
const CONTINUE = "Continue";
const STOP = "Stop";

/** The question to the user when limits are used up. */
export function budgetQuestion(reached: readonly ReachedLimit[]): UserQuestion {
  const more = reached.map(({ unit, amount }) => formatAmount(unit, amount)).join(" and ");
  return {
    id: QUESTION_ID,
    header: "Budget",
    question: `${describeAll(reached)}. Continue?`,
    options: [
      { label: CONTINUE, description: `Allows the same again: ${more}.` },
      { label: STOP, description: "Ends the turn here." },
    ],
  };
}

/** The user's answer. Anything but a clear yes is a no. */
export function budgetAnswer(answers: Answers): "continue" | "stop" | "none" {
  const given = Object.hasOwn(answers, QUESTION_ID) ? answers[QUESTION_ID]?.answers : undefined;
  if (given === undefined || given.length === 0) return "none";
  return given.length === 1 && given[0] === CONTINUE ? "continue" : "stop";
}

/** The error of a turn that was stopped, with the way out. */
export function budgetError(reached: readonly ReachedLimit[], why: string): TurnError {
  const names = reached.map(nameOf).join(" or ");
  const message = `${describeAll(reached)} and was stopped: ${why} Raise ${names} to allow more.`;
  return { message, errorInfo: "BudgetExceeded" };
}

/** The error of a turn that was stopped at a limit that only the administrator of the machine can raise. */
export function lockedBudgetError(reached: ReachedLimit, source = ""): TurnError {
  const message = `${describeAll([reached])} and was stopped: the administrator of this machine locked ${nameOf(reached)} (${source}).`;
  return { message, errorInfo: "BudgetExceeded" };
}

function describeAll(reached: readonly ReachedLimit[]): string {
  const each = reached.map((one) =>
    one.scope === "thread" ? `${describeLimit(one)} for the whole thread` : describeLimit(one),
  );
  return `The turn has reached ${each.join(" and ")}`;
}
