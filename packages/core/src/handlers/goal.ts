import { FlintError, type Goal, type Params } from "@flint/protocol";
import { checkLimits } from "../budget/enforcement.ts";
import type { ThreadContext, ThreadHandlers } from "./handler.ts";

/** Number of turns that follow for a goal that names no other limit. */
const DEFAULT_TURNS = 10;

/** The goal of a thread. */
export const goalHandlers: Pick<ThreadHandlers, "thread/goal/get" | "thread/goal/set" | "thread/goal/clear"> =
  {
    async "thread/goal/get"(_params, { thread }) {
      return { result: { goal: thread.log.state.goal ?? null } };
    },

    async "thread/goal/set"(params, context) {
      const { thread } = context;
      await rejectUnknowable(params, context);
      const goal = changed(params, context);
      return {
        result: { goal },
        events: [{ type: "thread/goal/updated", data: { threadId: thread.id, goal } }],
        after: () => {
          if (params.pursue && params.pursue.check === undefined) warnUnchecked(context);
        },
      };
    },

    async "thread/goal/clear"({ threadId }, { thread }) {
      const cleared = thread.log.state.goal !== undefined;
      return {
        result: { cleared },
        events: cleared ? [{ type: "thread/goal/cleared", data: { threadId } }] : [],
      };
    },
  };

type SetGoal = Params<"thread/goal/set">;

/** A new objective is a new goal, whose usage starts at zero. */
function changed({ objective, status, tokenBudget, pursue }: SetGoal, context: ThreadContext): Goal {
  const { state } = context.thread.log;
  const before = state.goal;
  const updatedAt = Math.floor(context.services.options.clock.now() / 1000);
  const goal = objective ?? before?.objective;
  if (goal === undefined) {
    const message = "The thread has no goal yet. Set one with `objective`.";
    throw new FlintError("invalidParams", message, { field: "objective" });
  }
  const isNew = before === undefined || goal !== before.objective;
  const usage = isNew ? { tokensUsed: 0, timeUsedSeconds: 0, createdAt: updatedAt } : before;
  const limit = tokenBudget === undefined ? before?.tokenBudget : (tokenBudget ?? undefined);
  const { tokensUsed, timeUsedSeconds, createdAt } = usage;
  const costBefore = state.cost?.amount ?? 0;
  const kept = isNew || pursue === null ? undefined : before.pursuit;
  const pursuit = pursue
    ? { ...pursue, maxTurns: pursue.maxTurns ?? DEFAULT_TURNS, turns: 0, costBefore }
    : kept;
  return {
    ...{ objective: goal, tokensUsed, timeUsedSeconds, createdAt, updatedAt },
    status: status ?? (isNew || pursue ? "active" : before.status),
    ...(limit === undefined ? {} : { tokenBudget: limit }),
    ...(pursuit === undefined ? {} : { pursuit }),
  };
}

/** Throws for a limit that the agent of the thread never reports enough to keep. */
async function rejectUnknowable({ pursue, tokenBudget }: SetGoal, { thread, services }: ThreadContext) {
  if (!pursue) return;
  const { settings } = thread.log.state;
  const { maxCostUsd: costUsd } = pursue;
  const tokens = tokenBudget ?? undefined;
  const limits = {
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(tokens === undefined ? {} : { tokens }),
  };
  if (Object.keys(limits).length === 0) return;
  const { model } = settings;
  await checkLimits({ model, budget: { thread: limits } }, services.catalogue);
}

/** Says that nothing but the agent's own word tells when the goal is reached. */
function warnUnchecked({ thread }: ThreadContext): void {
  const message =
    "This goal has no check, so it counts as reached when the agent says so. A check is a command that succeeds once it is reached.";
  thread.log.sendLive({ type: "warning", data: { threadId: thread.id, message, reason: "goal" } });
}
