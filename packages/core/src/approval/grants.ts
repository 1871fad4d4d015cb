import {
  type Action,
  type Approval,
  type Decision,
  exactKey,
  FlintError,
  grantKeys,
  mintId,
  type Rule,
  type RuleMatch,
  type RuleSuggestion,
  ruleSubjects,
} from "@flint/protocol";
import { prefixOf } from "./prefixes.ts";

/** Where an action comes from: the folder of its thread, and the agent. Rules apply to real paths, not to names. */
export interface Actor {
  /** A real path. */
  readonly project: string;
  readonly agent: string;
  /** Resolves the links of a path. */
  realPath(path: string): string;
}

/** What was allowed before: in the thread, exactly or as accepted suggestions, and by rules. */
export interface Allowed {
  readonly grants: readonly string[];
  readonly accepted: readonly RuleSuggestion[];
  readonly rules: readonly Rule[];
}

/** Whether all of an action was allowed before, for this agent in this project. */
export function isGranted(action: Action, actor: Actor, allowed: Allowed): boolean {
  const mine = (rule: RuleSuggestion) => rule.project === actor.project && rule.agent === actor.agent;
  const rules = allowed.rules.filter(mine);
  const exact = new Set([
    ...allowed.grants,
    ...rules.flatMap(({ tool, match }) => exactKey(tool, match) ?? []),
  ]);
  const keys = grantKeys(action);
  // An action without a key cannot have been allowed before.
  if (keys.length > 0 && keys.every((key) => exact.has(key))) return true;
  return [...rules, ...allowed.accepted.filter(mine)].some((rule) => isInPrefix(action, actor, rule));
}

function isInPrefix(action: Action, actor: Actor, { tool, match }: RuleSuggestion): boolean {
  if (match.type !== "prefix" || tool !== "command") return false;
  if (action.kind !== "command" || !isInProjectFolder(action.cwd, actor)) return false;
  const prefix = prefixOf(action.command);
  return prefix?.length === match.words.length && prefix.every((word, index) => word === match.words[index]);
}

function isInProjectFolder(cwd: string, { project, realPath }: Actor): boolean {
  return realPath(cwd) === project;
}

/** The rules that may be accepted in place of exactly this action. Most actions have none. */
export function suggestionsFor(action: Action, actor: Actor, now: number): RuleSuggestion[] {
  if (action.kind !== "command" || !isInProjectFolder(action.cwd, actor)) return [];
  const words = prefixOf(action.command);
  if (words === undefined) return [];
  const match: RuleMatch = { type: "prefix", words: [...words] };
  const { project, agent } = actor;
  return [{ id: mintId(now), project, agent, tool: "command", match }];
}

/** Throws `invalidParams` for a decision with a rule that the approval did not offer. */
export function rejectUnknownRule(
  { outcome, scope, rule }: Decision,
  { id, suggestions = [] }: Pick<Approval, "id" | "suggestions">,
): void {
  if (rule === undefined || outcome !== "allow" || scope === "once") return;
  if (suggestions.some((suggestion) => suggestion.id === rule)) return;
  const offered = suggestions.map((suggestion) => suggestion.id);
  const way =
    offered.length === 0 ? "It offers none; answer without a rule." : `It offers ${offered.join(", ")}.`;
  const message = `Approval ${id} offers no rule ${rule}. ${way}`;
  throw new FlintError("invalidParams", message, { field: "decision.rule", offered });
}

/** The rules that a decision with scope "always" makes: the accepted suggestion, or one for each exact match. */
export function rulesMadeBy(
  decision: Decision,
  { action, suggestions = [] }: Pick<Approval, "action" | "suggestions">,
  { project, agent }: Actor,
  now: number,
): Rule[] {
  if (decision.outcome !== "allow" || decision.scope !== "always") return [];
  const accepted = suggestions.find((suggestion) => suggestion.id === decision.rule);
  if (accepted !== undefined) return [{ ...accepted, createdAt: now }];
  return ruleSubjects(action).map((subject) => ({
    ...{ id: mintId(now), project, agent },
    ...{ ...subject, createdAt: now },
  }));
}
