import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { Action } from "./action.ts";
import { type Grant, RuleSuggestion, ruleSubjects } from "./grant.ts";
import { describeGrant } from "./grant-words.ts";
import { Decision } from "./policy.ts";

/** An open request of an agent to act. An answer may accept one of `suggestions` instead of the exact action. */
export const Approval = looseObject(() => ({
  id: Id,
  turnId: Id,
  action: Action,
  /** The agent that asks, and the real path of its thread's folder: what an answer beyond this time applies to. */
  agent: z.optional(z.string()),
  project: z.optional(z.string()),
  suggestions: z.optional(z.array(RuleSuggestion)),
  requestedAtMs: z.number(),
  expiresAtMs: z.number(),
}));
export type Approval = z.output<typeof Approval>;

/**
 * The grants that an answer makes beyond this time: the accepted suggestion, or else exactly what was asked
 * about. Empty for an answer of always to something that can never be allowed for always.
 */
export function grantsMadeBy(approval: Approval, decision: Decision, at: number): Grant[] {
  const { id, action, project, agent, suggestions = [] } = approval;
  const { outcome, scope } = decision;
  if (outcome !== "allow" || scope === "once") return [];
  const accepted = suggestions.find((suggestion) => suggestion.id === decision.rule);
  if (accepted !== undefined) {
    const { scopes: _scopes, words = describeGrant(accepted), ...covered } = accepted;
    return [{ ...covered, scope, words, grantedAt: at }];
  }
  if (project === undefined || (scope === "always" && !mayBeAlways(action))) return [];
  const by = agent === undefined ? {} : { agent };
  return ruleSubjects(action).map((subject, index) => ({
    ...{ id: index === 0 ? id : `${id}-${index}`, project, ...by, ...subject },
    ...{ scope, words: describeGrant(subject), grantedAt: at },
  }));
}

/**
 * Reports whether exactly this action may be allowed for always. Leaving the sandbox and reaching every host
 * may not.
 */
export function mayBeAlways({ needs = {} }: Action): boolean {
  return needs.unconfined !== true && needs.network !== "all";
}

/** The party or event that ended an approval or a question. */
export const ResolvedBy = z.enum(["client", "rule", "timeout", "interrupt", "turnEnded", "serverStopped"]);
export type ResolvedBy = z.output<typeof ResolvedBy>;

/** The outcome of an approval. */
export const Resolution = looseObject(() => ({
  decision: Decision,
  by: ResolvedBy,
  clientId: z.optional(z.string()),
  /** The name of the client that answered, as it gave it. */
  client: z.optional(z.string()),
}));
export type Resolution = z.output<typeof Resolution>;

/** A question of an agent to the user. */
export const UserQuestion = looseObject(() => ({
  id: z.string(),
  header: z.optional(z.string()),
  question: z.string(),
  options: z.optional(z.array(looseObject({ label: z.string(), description: z.optional(z.string()) }))),
  multiple: z.optional(z.boolean()),
  secret: z.optional(z.boolean()),
}));
export type UserQuestion = z.output<typeof UserQuestion>;

/** An open request of an agent for answers. */
export const QuestionRequest = looseObject(() => ({
  id: Id,
  turnId: Id,
  itemId: Id,
  questions: z.array(UserQuestion),
  requestedAtMs: z.number(),
  expiresAtMs: z.number(),
}));
export type QuestionRequest = z.output<typeof QuestionRequest>;

/** The answers, by question id. */
export const Answers = z.record(
  z.string(),
  looseObject(() => ({ answers: z.array(z.string()) })),
);
export type Answers = z.output<typeof Answers>;
