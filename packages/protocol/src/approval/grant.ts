import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { type Action, changedPaths } from "./action.ts";
import { Permission } from "./permission.ts";
import { DecisionScope } from "./policy.ts";

const Word = z.string().check(z.minLength(1));

/**
 * The actions that may use a grant. `exact`: one command in one folder, one file, one call of a tool with
 * these arguments, or (of a change of files, without a path) these changes. `prefix`: commands without any
 * shell syntax whose first words are exactly these. `edits`: changes of files in the workspace, except hidden
 * ones. `any`: whatever the agent runs; such a grant has a permission.
 */
export const RuleMatch = z.discriminatedUnion("type", [
  looseObject(() => ({
    type: z.literal("exact"),
    command: z.optional(z.string()),
    cwd: z.optional(z.string()),
    path: z.optional(z.string()),
    server: z.optional(z.string()),
    arguments: z.optional(z.unknown()),
  })),
  looseObject(() => ({ type: z.literal("prefix"), words: z.array(Word).check(z.minLength(2)) })),
  looseObject(() => ({ type: z.literal("edits") })),
  looseObject(() => ({ type: z.literal("any") })),
]);
export type RuleMatch = z.output<typeof RuleMatch>;

const covered = {
  id: Id,
  /** The folder whose threads it applies to, with links resolved; not the folders inside it. */
  project: z.string(),
  /** The agent it applies to; all agents if absent. */
  agent: z.optional(z.string()),
  /** `command`, `fileChange`, `network`, `write`, `git`, or the name of a tool. */
  tool: z.string(),
  match: RuleMatch,
  /** The permission that it allows beyond the sandbox; absent if none. */
  permission: z.optional(Permission),
};

/** Something that an approval offers to allow. An answer accepts it by its id, for one of its scopes. */
export const RuleSuggestion = looseObject(() => ({
  ...covered,
  /** Description of what accepting it allows, as a verb phrase. */
  words: z.optional(z.string()),
  /** The scopes for which it may be accepted; if absent, the thread and always. */
  scopes: z.optional(z.array(DecisionScope)),
}));
export type RuleSuggestion = z.output<typeof RuleSuggestion>;

/** Something that the user allowed beyond one time, or for one time that is still to come. */
export const Grant = looseObject(() => ({
  ...covered,
  scope: DecisionScope,
  /** The text that was shown to the user, as a verb phrase: "run: npm test (in /repo)". */
  words: z.string(),
  /** In unix milliseconds; 0 if it is unknown. */
  grantedAt: z.number(),
  /** Time at which it expires, in unix milliseconds. */
  expiresAt: z.optional(z.number()),
}));
export type Grant = z.output<typeof Grant>;

/** A grant for always. */
export const Rule = Grant;
export type Rule = Grant;

/** One thing that an action does, as a grant would cover it. */
export type RuleSubject = Pick<Grant, "tool" | "match" | "permission">;

/**
 * Splits an action into the things that are allowed one by one: each file of a change, each host, each path.
 */
export function ruleSubjects(action: Action): RuleSubject[] {
  if (asksForPermissionOnly(action)) return neededSubjects(action);
  if (action.kind !== "command") return [...ownSubjects(action), ...neededSubjects(action)];
  // What a command needs is allowed for this command only.
  const { command, cwd, needs } = action;
  const permission = needs === undefined ? {} : { permission: needs };
  return [{ tool: "command", match: { type: "exact", command, cwd }, ...permission }];
}

/** Tools of Flint itself that do nothing but ask. */
const PERMISSION_TOOLS: readonly string[] = ["git", "network", "permissions"];

/** Reports whether only permissions are asked for: the action runs already, or there is none. */
export function asksForPermissionOnly(action: Action): boolean {
  if (action.needs === undefined || action.kind === "fileChange") return false;
  if (action.kind === "command") return action.running === true;
  return action.server === undefined && PERMISSION_TOOLS.includes(action.tool);
}

function ownSubjects(action: Exclude<Action, { kind: "command" }>): RuleSubject[] {
  if (action.kind === "fileChange") {
    return changedPaths(action).map((path) => ({ tool: "fileChange", match: { type: "exact", path } }));
  }
  const { tool, server, arguments: given = null } = action;
  const of = server === undefined ? {} : { server };
  return [{ tool, match: { type: "exact", ...of, arguments: given } }];
}

/** Splits the needed permissions into parts that are allowed one by one: each host, each path. */
export function neededParts({
  network = "none",
  write = [],
  identities = {},
  git,
  unconfined,
}: Permission): Permission[] {
  const networks = network === "none" ? [] : network === "all" ? [network] : network.hosts;
  return [
    ...networks.map((host) => ({ network: host === "all" ? host : { hosts: [host] } }) satisfies Permission),
    ...write.map((path) => {
      const { [path]: identity } = identities;
      return { write: [path], ...(identity === undefined ? {} : { identities: { [path]: identity } }) };
    }),
    ...(git === true ? [{ git }] : []),
    ...(unconfined === true ? [{ unconfined }] : []),
  ];
}

function neededSubjects({ needs = {} }: Action): RuleSubject[] {
  return neededParts(needs).map((permission) => {
    const [tool = ""] = Object.keys(permission);
    return { tool, match: { type: "any" }, permission };
  });
}

/** A key for each thing that an action does: the same for the same thing, and different from all others. */
export function grantKeys(action: Action): string[] {
  return ruleSubjects(action).map(({ tool, match, permission = null }) =>
    JSON.stringify([tool, match, permission]),
  );
}
