import * as z from "zod/mini";
import { Goal, GoalStatus } from "../thread/goal.ts";
import { looseObject } from "../wire/loose-object.ts";
import { method, threadParams } from "./method.ts";

/** What a thread is for. */
export const GOAL_METHODS = {
  "thread/goal/get": method({
    doc: "The goal of a thread; null if it has none.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ goal: z.nullable(Goal) }),
  }),
  "thread/goal/set": method({
    doc: "Give a thread a goal, or change the one it has. Its agent hears of it with the next turn.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        objective: z.optional(z.string().check(z.minLength(1), z.maxLength(8_000))),
        status: z.optional(GoalStatus),
        tokenBudget: z.optional(z.nullable(z.int().check(z.minimum(1)))),
      }),
    result: () => looseObject({ goal: Goal }),
  }),
  "thread/goal/clear": method({
    doc: "Take the goal of a thread away.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ cleared: z.boolean() }),
  }),
} as const;
