import { FlintError, type Goal } from "@flint/protocol";
import type { ThreadHandlers } from "./handler.ts";

/** The goal of a thread. */
export const goalHandlers: Pick<ThreadHandlers, "thread/goal/get" | "thread/goal/set" | "thread/goal/clear"> =
  {
    async "thread/goal/get"(_params, { thread }) {
      return { result: { goal: thread.log.state.goal ?? null } };
    },

    async "thread/goal/set"({ threadId, objective, status, tokenBudget }, { thread, services }) {
      const goal = changed(
        thread.log.state.goal,
        { objective, status, tokenBudget },
        services.options.clock.now(),
      );
      return { result: { goal }, events: [{ type: "thread/goal/updated", data: { threadId, goal } }] };
    },

    async "thread/goal/clear"({ threadId }, { thread }) {
      const cleared = thread.log.state.goal !== undefined;
      return {
        result: { cleared },
        events: cleared ? [{ type: "thread/goal/cleared", data: { threadId } }] : [],
      };
    },
  };

interface Change {
  readonly objective: string | undefined;
  readonly status: Goal["status"] | undefined;
  /** Null removes the limit. */
  readonly tokenBudget: number | null | undefined;
}

/** A new objective is a new goal, whose usage starts at zero. */
function changed(before: Goal | undefined, { objective, status, tokenBudget }: Change, now: number): Goal {
  const updatedAt = Math.floor(now / 1000);
  const goal = objective ?? before?.objective;
  if (goal === undefined) {
    const message = "The thread has no goal yet. Set one with `objective`.";
    throw new FlintError("invalidParams", message, { field: "objective" });
  }
  const isNew = before === undefined || goal !== before.objective;
  const usage = isNew ? { tokensUsed: 0, timeUsedSeconds: 0, createdAt: updatedAt } : before;
  const limit = tokenBudget === undefined ? before?.tokenBudget : (tokenBudget ?? undefined);
  const { tokensUsed, timeUsedSeconds, createdAt } = usage;
  return {
    ...{ objective: goal, tokensUsed, timeUsedSeconds, createdAt, updatedAt },
    status: status ?? (isNew ? "active" : before.status),
    ...(limit === undefined ? {} : { tokenBudget: limit }),
  };
}
