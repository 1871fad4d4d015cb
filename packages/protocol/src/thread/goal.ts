import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** How a goal stands. */
export const GoalStatus = z.enum([
  "active",
  "paused",
  "blocked",
  "usageLimited",
  "budgetLimited",
  "complete",
]);
export type GoalStatus = z.output<typeof GoalStatus>;

/** What a thread is for, as the user put it, and what went into it so far. Times are unix seconds. */
export const Goal = looseObject({
  objective: z.string(),
  status: GoalStatus,
  tokenBudget: z.optional(z.number()),
  tokensUsed: z.number(),
  timeUsedSeconds: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type Goal = z.output<typeof Goal>;
