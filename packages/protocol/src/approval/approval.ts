import * as z from "zod/mini";
import { FileUpdateChange } from "../items.ts";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { describePermission, HostRuleString, Permission } from "./permission.ts";
import { Decision } from "./policy.ts";

/** An earlier run of the same action, which its sandbox stopped. */
export const EarlierRun = looseObject({
  itemId: Id,
  ranMs: z.number(),
  /** What shows that the sandbox stopped it, as lines of text. */
  evidence: z.array(z.string()),
});
export type EarlierRun = z.output<typeof EarlierRun>;

const common = {
  itemId: Id,
  reason: z.optional(z.string()),
  /** What it needs beyond its sandbox. */
  needs: z.optional(Permission),
  /** Why it needs that, in the words of the agent. */
  why: z.optional(z.string()),
  /** Set if it has run before. */
  after: z.optional(EarlierRun),
};

/** What an agent asks to do. The exact command or diff is always included. */
export const Action = z.discriminatedUnion("kind", [
  looseObject({
    kind: z.literal("command"),
    ...common,
    command: z.string(),
    cwd: z.string(),
    /** Set if the command was allowed and runs: it waits for what it needs, and only that is asked about. */
    running: z.optional(z.boolean()),
  }),
  looseObject({ kind: z.literal("fileChange"), ...common, changes: z.array(FileUpdateChange) }),
  looseObject({
    kind: z.literal("tool"),
    ...common,
    tool: z.string(),
    server: z.optional(z.string()),
    arguments: z.optional(z.unknown()),
  }),
]);
export type Action = z.output<typeof Action>;

const Word = z.string().check(z.minLength(1));

/**
 * What a rule covers. `exact`: one command in one folder, one file, one call of a tool with these arguments, or one thing
 * that a sandbox keeps commands from: a host, or a path that is not writable.
 * `prefix`: commands without any shell syntax whose first words are exactly these.
 */
export const RuleMatch = z.discriminatedUnion("type", [
  looseObject({
    type: z.literal("exact"),
    command: z.optional(z.string()),
    cwd: z.optional(z.string()),
    path: z.optional(z.string()),
    server: z.optional(z.string()),
    arguments: z.optional(z.unknown()),
    host: z.optional(z.union([HostRuleString, z.literal("*")])),
    write: z.optional(z.string()),
  }),
  looseObject({ type: z.literal("prefix"), words: z.array(Word).check(z.minLength(2)) }),
]);
export type RuleMatch = z.output<typeof RuleMatch>;

const covered = {
  id: Id,
  /** The folder whose threads it applies to, with links resolved; not the folders inside it. */
  project: z.string(),
  /** The agent it applies to. */
  agent: z.string(),
  /** `command`, `fileChange`, `network`, `write`, `git`, or the name of a tool. */
  tool: z.string(),
  match: RuleMatch,
};

/** A rule that an approval offers. An answer accepts it by its id, for the thread or for always. */
export const RuleSuggestion = looseObject(covered);
export type RuleSuggestion = z.output<typeof RuleSuggestion>;

/** Something that was allowed for always. `createdAt` is in unix milliseconds; 0 if it is unknown. */
export const Rule = looseObject({ ...covered, createdAt: z.number() });
export type Rule = z.output<typeof Rule>;

/** One thing that an action does, as a rule would cover it. */
export type RuleSubject = Pick<RuleSuggestion, "tool" | "match">;

/** What an action does, as things that are allowed one by one: each file of a change, each host, each path. */
export function ruleSubjects(action: Action): RuleSubject[] {
  const isRunning = action.kind === "command" && action.running === true;
  // Commits that exist are asked about as such, whatever they are called.
  const own = isRunning || action.needs?.git === true ? [] : subjectsOf(action);
  return [...own, ...neededSubjects(action)];
}

function subjectsOf(action: Action): RuleSubject[] {
  switch (action.kind) {
    case "command":
      return [exactly("command", { command: action.command, cwd: action.cwd })];
    case "fileChange":
      return action.changes
        .flatMap(({ path, movePath }) => (movePath === undefined ? [path] : [path, movePath]))
        .map((path) => exactly("fileChange", { path }));
    case "tool": {
      const { server, arguments: given = null } = action;
      return [exactly(action.tool, { ...(server === undefined ? {} : { server }), arguments: given })];
    }
  }
}

function neededSubjects({ needs = {} }: Action): RuleSubject[] {
  const { network = "none", write = [] } = needs;
  const hosts = network === "none" ? [] : network === "all" ? ["*"] : network.hosts;
  return [
    ...hosts.map((host) => exactly("network", { host })),
    ...write.map((path) => exactly("write", { write: path })),
    ...(needs.git === true ? [exactly("git", {})] : []),
  ];
}

function exactly(tool: string, match: Omit<Extract<RuleMatch, { type: "exact" }>, "type">): RuleSubject {
  return { tool, match: { type: "exact", ...match } };
}

/** A key for each exact action, different from all others. A prefix has none: it covers more than one action. */
export function exactKey(tool: string, match: RuleMatch): string | undefined {
  if (match.type === "prefix") return undefined;
  const { cwd, command, path, host, write } = match;
  if (tool === "network" && host !== undefined) return `network:${host}`;
  if (tool === "git" && !("arguments" in match)) return "git";
  if (tool === "write" && write !== undefined) return `write:${write}`;
  if (tool === "command" && command !== undefined) return `command:${JSON.stringify([cwd ?? "", command])}`;
  if (tool === "fileChange" && path !== undefined) return `file:${path}`;
  if (!("arguments" in match)) return undefined;
  return `tool:${JSON.stringify([match.server ?? "", tool, match.arguments ?? null])}`;
}

/** What a rule covers, as text for a list. */
export function describeRule({ tool, match }: Pick<Rule, "tool" | "match">): string {
  if (match.type === "prefix") return `commands that begin with: ${match.words.join(" ")}`;
  if (match.command !== undefined) return `the command: ${match.command} (in ${match.cwd ?? "?"})`;
  if (match.path !== undefined) return `changes of the file: ${match.path}`;
  if (tool === "git" && !("arguments" in match)) return describePermission({ git: true });
  if (match.host === "*") return describePermission({ network: "all" });
  if (match.host !== undefined) return describePermission({ network: { hosts: [match.host] } });
  if (match.write !== undefined) return describePermission({ write: [match.write] });
  const name = match.server === undefined ? tool : `${match.server}/${tool}`;
  return `the tool: ${name} with ${JSON.stringify(match.arguments ?? null)}`;
}

/**
 * What must have been allowed before for an action to need no new answer. Each key names the exact thing, so an
 * answer never covers more than what was shown.
 */
export function grantKeys(action: Action): string[] {
  const keys = ruleSubjects(action).flatMap(({ tool, match }) => exactKey(tool, match) ?? []);
  // Leaving the sandbox is allowed for one command at a time, never as a part of something else.
  return action.needs?.unconfined === true ? keys.map((key) => `unconfined:${key}`) : keys;
}

/** An open request of an agent to act. An answer may accept one of `suggestions` instead of the exact action. */
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

/** A question of an agent to the user. */
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
