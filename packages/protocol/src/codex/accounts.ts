import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";

const CodexRateLimitWindow = nullish(
  foreignObject({
    usedPercent: z.number(),
    windowDurationMins: nullish(z.number()),
    /** In unix seconds. */
    resetsAt: nullish(z.number()),
  }),
);

/** Used share of the limits of an account. Fields that an update leaves out or sets to null are unchanged. */
export const CodexRateLimits = foreignObject({
  limitId: nullish(z.string()),
  limitName: nullish(z.string()),
  normalModelSlug: z.optional(z.unknown()),
  primary: CodexRateLimitWindow,
  secondary: CodexRateLimitWindow,
  credits: z.optional(z.unknown()),
  individualLimit: z.optional(z.unknown()),
  spendControlReached: nullish(z.boolean()),
  planType: nullish(z.string()),
  rateLimitReachedType: nullish(z.string()),
});

export type CodexRateLimits = z.output<typeof CodexRateLimits>;

/** The account of Codex; the fields depend on its type. */
export const CodexAccount = foreignObject({
  type: z.string(),
  email: nullish(z.string()),
  planType: nullish(z.string()),
  workspaceName: nullish(z.string()),
  usesCodexManagedCredentials: z.optional(z.boolean()),
});

export type CodexAccount = z.output<typeof CodexAccount>;
