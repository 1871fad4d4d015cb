import { FlintError, type Goal } from "@flint/protocol";
import type { ThreadHandlers } from "./handler.ts";

/** What a thread is for. */
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
  /** Null takes the limit away. */
  readonly tokenBudget: number | null | undefined;
}

/** Another objective is another goal: what went into the old one does not count for it. */
function changed(before: Goal | undefined, { objective, status, tokenBudget }: Change, now: number): Goal {
  const updatedAt = Math.floor(now / 1000);
  const wanted = objective ?? before?.objective;
  if (wanted === undefined) {
    const message = "The thread has no goal yet. Say what it is for with `objective`.";
    throw new FlintError("invalidParams", message, { field: "objective" });
  }
  const isNew = before === undefined || wanted !== before.objective;
  const spent = isNew ? { tokensUsed: 0, timeUsedSeconds: 0, createdAt: updatedAt } : before;
  const limit = tokenBudget === undefined ? before?.tokenBudget : (tokenBudget ?? undefined);
  const { tokensUsed, timeUsedSeconds, createdAt } = spent;
  return {
    ...{ objective: wanted, tokensUsed, timeUsedSeconds, createdAt, updatedAt },
    status: status ?? (isNew ? "active" : before.status),
    ...(limit === undefined ? {} : { tokenBudget: limit }),
  };
}
