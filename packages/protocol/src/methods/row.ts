import * as z from "zod/mini";
import { Budget } from "../budget.ts";
import { Id } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { once } from "../open.ts";
import { ApprovalPolicy } from "../policy.ts";
import { ConfigValues } from "../thread.ts";

/** The queue a method runs in: that of its thread, or none (it may run beside a queued one). */
export type Scope = "thread" | "none";

/** Schemas are made when they are first looked at: a server answers before it has made them all. */
export function row<In extends Scope, Params extends z.ZodMiniType, Result extends z.ZodMiniType>(
  doc: string,
  scope: In,
  params: () => Params,
  result: () => Result,
) {
  const schemas = { params: once(params), result: once(result) };
  return {
    doc,
    scope,
    get params() {
      return schemas.params();
    },
    get result() {
      return schemas.result();
    },
  };
}

/** What every method of a thread takes. */
export const ofThread = { threadId: Id };

/** How many rows of a list are wanted. */
export const limit = z.optional(z.int().check(z.minimum(1), z.maximum(LIMITS.page)));

/** A folder or file of the machine the server runs on. */
export const absolutePath = z
  .string()
  .check(z.startsWith("/", "must be an absolute path"), z.maxLength(4096));

/** What a client may want different from what is in force. */
export const overrides = {
  model: z.optional(z.string()),
  cwd: z.optional(absolutePath),
  approvalPolicy: z.optional(ApprovalPolicy),
  config: z.optional(ConfigValues),
  budget: z.optional(Budget),
};
