import {
  type AskReason,
  NO_USAGE,
  type RunUsage,
  type TaskAsk,
  type TaskEventBody,
  type TaskEventData,
  type TaskEventType,
  type TaskState,
  type TurnBudget,
  totalTokens,
} from "@flint/protocol";

/** Values that a decision may use besides the state. Decisions themselves read nothing from the machine. */
export interface DecisionContext {
  readonly now: number;
  /** From 0 to 1: for the jitter of waits. */
  readonly random: number;
  /** A new id, for asks and runs. */
  readonly id: () => string;
}

/** The events that follow, in order. Empty: nothing changes. */
export type Events = readonly TaskEventBody[];

/** The reason the user's request cannot be carried out, as an error message for them. */
export class TaskRefusal extends Error {
  override readonly name = "TaskRefusal";
}

/** An event of a task. */
export function event<Type extends TaskEventType>(type: Type, data: TaskEventData<Type>): TaskEventBody {
  // The pair of name and data is checked by the signature; TypeScript cannot see that it is one of the union.
  return { type, data } as TaskEventBody;
}

/** The event with which a task stops and asks the user. */
export function asking(
  context: DecisionContext,
  reason: AskReason,
  message: string,
  more: Partial<Pick<TaskAsk, "request" | "threadId">> = {},
): TaskEventBody {
  return event("task/asking", { ask: { id: context.id(), reason, message, ...more } });
}

/** The note for an executor whose last turn was cut off. */
export function interrupted(by: string, { now }: DecisionContext): string {
  const when = new Date(now).toISOString();
  return `You were interrupted by ${by} at ${when}. Look at the state of the work tree before you continue.`;
}

/** Returns the reason a task has no budget left; undefined while it has. */
export function exhaustedBudget({ spec, usage, extraBudgets }: TaskState): string | undefined {
  const allowed = (amount: number) => amount * (1 + extraBudgets);
  const { costUsd, tokens, seconds } = spec.budget;
  if (usage.seconds >= allowed(seconds)) return `The time limit of ${allowed(seconds)} s is reached.`;
  if (costUsd !== undefined && usage.cost?.currency === "USD" && usage.cost.amount >= allowed(costUsd))
    return `The cost limit of $${allowed(costUsd)} is reached: $${usage.cost.amount.toFixed(2)} spent.`;
  if (tokens !== undefined && totalTokens(usage.tokens) >= allowed(tokens))
    return `The token limit of ${allowed(tokens)} is reached.`;
  return undefined;
}

/**
 * Returns the budget of the next turn, after one whose usage is not in the state yet. At least a little of
 * everything: a budget of nothing cannot be written.
 */
export function budgetLeft({ spec, usage, extraBudgets }: TaskState, more?: RunUsage): TurnBudget {
  const { seconds, costUsd, tokens } = spec.budget;
  const left = (allowed: number, used: number, least: number) =>
    Math.max(least, allowed * (1 + extraBudgets) - used);
  return {
    seconds: left(seconds, usage.seconds + (more?.seconds ?? 0), 1),
    ...(costUsd === undefined
      ? {}
      : { costUsd: left(costUsd, (usage.cost?.amount ?? 0) + (more?.cost?.amount ?? 0), 0.01) }),
    ...(tokens === undefined
      ? {}
      : { tokens: left(tokens, totalTokens(usage.tokens) + totalTokens(more?.tokens ?? NO_USAGE), 1) }),
  };
}
