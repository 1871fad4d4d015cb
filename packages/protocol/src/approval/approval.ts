import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { Decision } from "./policy.ts";
import { Action, exactKey, exactMatches, RuleSuggestion, ruleTool } from "./rules.ts";

/**
 * What must have been allowed before for an action to need no new answer. Each key names the exact thing, so an
 * answer never covers more than what was shown.
 */
export function grantKeys(action: Action): string[] {
  const tool = ruleTool(action);
  return exactMatches(action).flatMap((match) => exactKey(tool, match) ?? []);
}

/** An open question of an agent whether it may act. An answer may take one of `suggestions` instead of the exact thing. */
export const Approval = looseObject({
  id: Id,
  turnId: Id,
  action: Action,
  suggestions: z.optional(z.array(RuleSuggestion)),
  requestedAtMs: z.number(),
  expiresAtMs: z.number(),
});
export type Approval = z.output<typeof Approval>;

/** Who ended an approval or a question. */
export const ResolvedBy = z.enum(["client", "rule", "timeout", "interrupt", "turnEnded", "serverStopped"]);
export type ResolvedBy = z.output<typeof ResolvedBy>;

/** How an approval ended. */
export const Resolution = looseObject({
  decision: Decision,
  by: ResolvedBy,
  clientId: z.optional(z.string()),
});
export type Resolution = z.output<typeof Resolution>;

/** One thing an agent wants to know from the user. */
export const UserQuestion = looseObject({
  id: z.string(),
  header: z.optional(z.string()),
  question: z.string(),
  options: z.optional(z.array(looseObject({ label: z.string(), description: z.optional(z.string()) }))),
  multiple: z.optional(z.boolean()),
  secret: z.optional(z.boolean()),
});
export type UserQuestion = z.output<typeof UserQuestion>;

/** An open request of an agent for answers. */
export const QuestionRequest = looseObject({
  id: Id,
  turnId: Id,
  itemId: Id,
  questions: z.array(UserQuestion),
  requestedAtMs: z.number(),
  expiresAtMs: z.number(),
});
export type QuestionRequest = z.output<typeof QuestionRequest>;

/** The answers, by question id. */
export const Answers = z.record(z.string(), looseObject({ answers: z.array(z.string()) }));
export type Answers = z.output<typeof Answers>;
