import type { Rule } from "@flint/protocol";
import {
  type Action,
  type Approval,
  changedPaths,
  type Decision,
  describeGrant,
  FlintError,
  type Grant,
  isRecord,
  mayBeAlways,
  mintId,
  type Permission,
  permissionCovers,
  type RuleSubject,
  type RuleSuggestion,
  ruleSubjects,
} from "@flint/protocol";
import { prefixOf } from "./prefixes.ts";
import { isWorkspaceEdit } from "./sandbox-bounds.ts";

/** The origin of an action: the folder of its thread, and the agent. Rules apply to real paths, not to names. */
export interface Actor {
  /** A real path. */
  readonly project: string;
  readonly agent: string;
  /** Resolves the links of a path. */
  realPath(path: string): string;
  /**
   * Returns what identifies a folder among all that were ever at the same path; undefined if there is none.
   */
  folderIdentity?: ((path: string) => string | undefined) | undefined;
}

/** An action that names, for each folder it wants to write, which one is there now. */
export function withFolderIdentities(action: Action, identityOf: Actor["folderIdentity"]): Action {
  const { needs } = action;
  if (identityOf === undefined || needs?.write === undefined) return action;
  const found = needs.write.flatMap((path) => {
    const identity = identityOf(path);
    return identity === undefined ? [] : [[path, identity] as const];
  });
  return { ...action, needs: { ...needs, identities: Object.fromEntries(found) } };
}

/** The grants that together cover all of an action, for this agent in this project; undefined if some of it is not covered. */
export function coveringGrants(
  action: Action,
  actor: Actor,
  grants: readonly Grant[],
  now: number,
): readonly Grant[] | undefined {
  if (isAskedEachTime(action)) return undefined;
  const { project, agent } = actor;
  const mine = grants.filter(
    (grant) =>
      grant.project === project &&
      (grant.agent === undefined || grant.agent === agent) &&
      (grant.expiresAt === undefined || grant.expiresAt > now),
  );
  if (mine.length === 0) return undefined;
  const coverage = new Coverage(action, actor);
  const found = ruleSubjects(action).map((subject) => coverage.first(mine, subject));
  // An action without anything that a grant could cover is not covered either.
  if (found.length === 0) return undefined;
  const covering = found.filter((grant) => grant !== undefined);
  return covering.length === found.length ? [...new Set(covering)] : undefined;
}

/**
 * Reports whether commits change protected files or lose others, which an earlier approval of commits does
 * not cover.
 */
export function isAskedEachTime(action: Action): boolean {
  if (action.kind !== "tool" || action.needs?.git !== true) return false;
  const { protectedPaths, refs } = Object(action.arguments);
  const isLosing = (ref: unknown) =>
    isRecord(ref) &&
    (ref.change === "deleted" || ref.change === "forced") &&
    !String(ref.name).startsWith("refs/remotes/");
  return protectedPaths !== undefined || (Array.isArray(refs) && refs.some(isLosing));
}

/**
 * The grants that let exactly this command do more than its sandbox, as it was granted when the sandbox had stopped it;
 * undefined if there are none. Leaving the sandbox is never granted to a command that does not ask for it.
 */
export function grantsBeyondSandbox(
  action: Action,
  actor: Actor,
  grants: readonly Grant[],
  now: number,
): readonly Grant[] | undefined {
  if (action.kind !== "command" || action.needs !== undefined || action.running === true) return undefined;
  const widening = grants.filter(
    ({ match, permission }) =>
      match.type === "exact" && permission !== undefined && permission.unconfined !== true,
  );
  return coveringGrants(action, actor, widening, now);
}

/** Compares grants with one action; what is costly is found once. */
class Coverage {
  readonly #action: Action;
  readonly #actor: Actor;
  #prefix: readonly string[] | "none" | undefined;

  constructor(action: Action, actor: Actor) {
    this.#action = action;
    this.#actor = actor;
  }

  /** The first grant that covers a subject. One that is used up comes last. */
  first(grants: readonly Grant[], subject: RuleSubject): Grant | undefined {
    let once: Grant | undefined;
    for (const grant of grants) {
      if (!this.#covers(grant, subject)) continue;
      if (grant.scope !== "once") return grant;
      once ??= grant;
    }
    return once;
  }

  #covers(grant: Grant, subject: RuleSubject): boolean {
    const { match, permission = {} } = grant;
    if (!this.#isUnmoved(permission)) return false;
    switch (match.type) {
      case "any":
        return subject.match.type === "any" && permissionCovers(permission, subject.permission ?? {});
      case "edits":
        return subject.tool === "fileChange" && isWorkspaceEdit(this.#action, this.#actor);
      case "exact":
      case "prefix":
        return this.#isSame(grant, subject) && permissionCovers(permission, subject.permission ?? {});
    }
  }

  /**
   * Reports whether the folders of a grant are still those that the user was asked about, neither replaced
   * nor turned into links.
   */
  #isUnmoved({ identities = {} }: Permission): boolean {
    const { folderIdentity } = this.#actor;
    if (folderIdentity === undefined) return true;
    return Object.entries(identities).every(([path, identity]) => folderIdentity(path) === identity);
  }

  /**
   * Reports whether the subject is what the grant names, or is needed by a running command that the grant
   * names.
   */
  #isSame({ tool, match }: Grant, subject: RuleSubject): boolean {
    const action = this.#action;
    const isRunning = action.kind === "command" && action.running === true;
    // A grant of these very changes covers all of them, with the folders that they write.
    if (action.kind === "fileChange" && match.type === "exact" && match.path === undefined)
      return tool === "fileChange" && JSON.stringify(match.arguments) === JSON.stringify(action.changes);
    if (subject.match.type !== "exact" && !isRunning) return false;
    if (!isRunning && tool !== subject.tool) return false;
    if (match.type === "prefix") return tool === "command" && this.#hasPrefix(match.words);
    if (match.type !== "exact") return false;
    if (action.kind === "command")
      return match.command === action.command && this.#isSameFolder(match.cwd ?? "", action.cwd);
    return subject.match.type === "exact" && isSameMatch(match, subject.match);
  }

  /** Agents name a folder with or without its links resolved. */
  #isSameFolder(left: string, right: string): boolean {
    const { realPath } = this.#actor;
    return left === right || realPath(left) === realPath(right);
  }

  #hasPrefix(words: readonly string[]): boolean {
    this.#prefix ??= this.#findPrefix() ?? "none";
    const prefix = this.#prefix;
    return (
      prefix !== "none" && prefix.length === words.length && words.every((word, at) => word === prefix[at])
    );
  }

  #findPrefix(): readonly string[] | undefined {
    const action = this.#action;
    if (action.kind !== "command" || !isInProjectFolder(action.cwd, this.#actor)) return undefined;
    return prefixOf(action.command);
  }
}

type ExactMatch = Extract<Grant["match"], { type: "exact" }>;

/** For files and tool calls; commands are compared with the action. */
function isSameMatch(left: ExactMatch, right: ExactMatch): boolean {
  if (left.command !== undefined || left.path !== right.path || left.server !== right.server) return false;
  if (right.path !== undefined) return true;
  // A match without arguments is not a call of a tool.
  if (!("arguments" in left)) return false;
  return JSON.stringify(left.arguments ?? null) === JSON.stringify(right.arguments ?? null);
}

function isInProjectFolder(cwd: string, { project, realPath }: Actor): boolean {
  return realPath(cwd) === project;
}

/** Returns the rules that may be accepted in place of exactly this action, for this agent. */
export function suggestionsFor(action: Action, actor: Actor, now: number): RuleSuggestion[] {
  const { project, agent } = actor;
  const suggest = (subject: RuleSubject, scopes: RuleSuggestion["scopes"], isForAll = false) => ({
    ...{ id: mintId(now), project, ...(isForAll ? {} : { agent }), ...subject },
    ...{ words: describeGrant(subject), scopes },
  });
  const prefix = prefixSubject(action, actor);
  const edits: RuleSubject = { tool: "fileChange", match: { type: "edits" } };
  const exact = ruleSubjects(action);
  const [only] = exact;
  const folders = folderSubject(action);
  return [
    ...(prefix === undefined ? [] : [suggest(prefix, ["session", "always"])]),
    ...(folders === undefined ? [] : [suggest(folders, ["session"])]),
    ...(isWorkspaceEdit(action, actor) ? [suggest(edits, ["session"])] : []),
    ...(only === undefined || exact.length > 1 || !isForAllAgents(action)
      ? []
      : [suggest(only, ["always"], true)]),
    ...(prefix === undefined ? [] : [suggest(prefix, ["always"], true)]),
  ];
}

/** Commands, files and hosts mean the same for every agent; tools and commits of one agent do not. */
function isForAllAgents(action: Action): boolean {
  if (!mayBeAlways(action) || action.needs?.git === true) return false;
  return action.kind === "command" || (action.kind === "fileChange" && changedPaths(action).length === 1);
}

/** The folders outside of the workspace that a change of files needs, for all that the agent writes there. */
function folderSubject({ kind, needs }: Action): RuleSubject | undefined {
  if (kind !== "fileChange" || needs?.write === undefined) return undefined;
  return { tool: "write", match: { type: "any" }, permission: needs };
}

function prefixSubject(action: Action, actor: Actor): RuleSubject | undefined {
  if (action.kind !== "command" || action.needs !== undefined) return undefined;
  const words = isInProjectFolder(action.cwd, actor) ? prefixOf(action.command) : undefined;
  return words === undefined ? undefined : { tool: "command", match: { type: "prefix", words: [...words] } };
}

/** Throws `invalidParams` for a decision with a rule that the approval did not offer, or not for that long. */
export function rejectUnknownRule(
  { outcome, scope, rule }: Decision,
  { id, suggestions = [] }: Pick<Approval, "id" | "suggestions">,
): void {
  if (rule === undefined || outcome !== "allow" || scope === "once") return;
  const found = suggestions.find((suggestion) => suggestion.id === rule);
  const { scopes = [scope] } = found ?? {};
  if (found !== undefined && scopes.includes(scope)) return;
  const offered = suggestions.map((suggestion) => suggestion.id);
  const way =
    offered.length === 0 ? "It offers none; answer without a rule." : `It offers ${offered.join(", ")}.`;
  const message =
    found === undefined
      ? `Approval ${id} offers no rule ${rule}. ${way}`
      : `Approval ${id} does not offer rule ${rule} for ${scope}; it offers it for ${scopes.join(", ")}.`;
  throw new FlintError("invalidParams", message, { field: "decision.rule", offered });
}

/** An action that nothing covers, and the rules that covered it before their folder was replaced. */
interface UncoveredAction {
  readonly action: Action;
  readonly actor: Actor;
  readonly grants: readonly Grant[];
  readonly replaced: readonly Rule[];
  readonly now: number;
}

/** Explains, once for each rule, that it does not apply because another folder has taken the place of its folder. */
export class ReplacedFolderNotices {
  readonly #explained = new Set<string>();

  /** The explanation for an action; undefined if no such rule would cover it, or if that was explained before. */
  take({ action, actor, grants, replaced, now }: UncoveredAction): string | undefined {
    if (replaced.length === 0) return undefined;
    const covering = coveringGrants(action, actor, [...grants, ...replaced], now) ?? [];
    const missed = replaced.filter((rule) => covering.includes(rule) && !this.#explained.has(rule.id));
    if (missed.length === 0) return undefined;
    for (const { id } of missed) this.#explained.add(id);
    return `A rule for this was made in another folder that was at ${actor.project} before, so it does not apply here.`;
  }
}
