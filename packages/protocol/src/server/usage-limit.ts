import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** Closeness of an account to a limit. With `reached`, requests are rejected until it resets. */
export const UsageLimitStatus = z.enum(["ok", "warning", "reached"]);
export type UsageLimitStatus = z.output<typeof UsageLimitStatus>;

/** The source of a limit: a message of the agent, the headers of a model API, or the text of an error. */
export const UsageLimitSource = z.enum(["frame", "header", "text"]);

/** A usage limit of the account that an agent works with, as it was last reported. */
export const UsageLimit = looseObject(() => ({
  agent: z.string(),
  /** The account that it limits, where an agent works with several providers. */
  account: z.optional(z.string()),
  /** The model that it applies to; absent: all. */
  model: z.optional(z.string()),
  /** The window that it counts over, such as "5 hours". */
  window: z.string(),
  windowMinutes: z.optional(z.number()),
  /** From 0 to 100. */
  usedPercent: z.optional(z.number()),
  /** Time of its reset, in unix milliseconds. */
  resetsAtMs: z.optional(z.number()),
  status: UsageLimitStatus,
  source: UsageLimitSource,
  /** Set if it was only understood from text. */
  guessed: z.optional(z.boolean()),
  /** Set if waiting does not help: someone has to buy credit or change the plan. */
  needsUser: z.optional(z.boolean()),
  reportedAtMs: z.number(),
}));
export type UsageLimit = z.output<typeof UsageLimit>;

/** A limit as drivers report it. */
export type ReportedLimit = Omit<UsageLimit, "agent" | "reportedAtMs" | "_meta">;
