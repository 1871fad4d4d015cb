import * as z from "zod/mini";
import { Goal, GoalStatus } from "../goal.ts";
import { open } from "../open.ts";
import { ofThread, row } from "./row.ts";

/** What a thread is for. */
export const GOAL_METHODS = {
  "thread/goal/get": row(
    "The goal of a thread; null if it has none.",
    "thread",
    () => open(ofThread),
    () => open({ goal: z.nullable(Goal) }),
  ),
  "thread/goal/set": row(
    "Give a thread a goal, or change the one it has. Its agent hears of it with the next turn.",
    "thread",
    () =>
      open({
        ...ofThread,
        objective: z.optional(z.string().check(z.minLength(1), z.maxLength(8_000))),
        status: z.optional(GoalStatus),
        tokenBudget: z.optional(z.nullable(z.int().check(z.minimum(1)))),
      }),
    () => open({ goal: Goal }),
  ),
  "thread/goal/clear": row(
    "Take the goal of a thread away.",
    "thread",
    () => open(ofThread),
    () => open({ cleared: z.boolean() }),
  ),
} as const;
