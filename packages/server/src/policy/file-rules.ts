import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { PolicyRules, RuleDecision } from "@flint/core/ports";
import {
  type Action,
  asksForPermissionOnly,
  changedPaths,
  hostsOf,
  neededParts,
  type Permission,
  permissionCovers,
  permissionsOverlap,
  withoutAddresses,
} from "@flint/protocol";
import { allows, isExactly, type Match, matchOf, type Pattern, type Subject } from "./pattern.ts";

/** One rule of a policy file. */
export interface PolicyRule {
  /** Its position in the file, from 1. */
  readonly number: number;
  readonly line: number | undefined;
  readonly decision: RuleDecision["decision"];
  /** The only agent it applies to; all agents if undefined. */
  readonly agent: string | undefined;
  /** Undefined for a rule that is only about what actions need beyond the sandbox. */
  readonly pattern: Pattern | undefined;
  /**
   * The permission beyond the sandbox that it concerns. An allow rule without it allows nothing beyond the
   * sandbox.
   */
  readonly permission?: Permission | undefined;
}

/** The rules of a policy file. The strictest decision wins: deny, then ask, then allow. */
export class FileRules implements PolicyRules {
  readonly source: string;
  readonly unanswered: PolicyRules["unanswered"];
  readonly #rules: readonly PolicyRule[];

  constructor(source: string, unanswered: PolicyRules["unanswered"], rules: readonly PolicyRule[]) {
    this.source = source;
    this.unanswered = unanswered;
    this.#rules = rules;
  }

  judge(action: Action, agent: string, cwd: string): RuleDecision | undefined {
    if (this.#isChangedBy(action, cwd))
      return {
        decision: "deny",
        reason: `${this.source} is the policy file of this run; only you can change it.`,
      };
    const subjects = subjectsOf(action, cwd);
    const mine = this.#rules.filter((rule) => rule.agent === undefined || rule.agent === agent);
    const strict = mine.filter((rule) => isAbout(rule, action.needs ?? {}));
    return (
      this.#denied(strict, subjects) ??
      this.#asked(strict, subjects) ??
      this.#unclear(strict, subjects) ??
      this.#allowed(mine, subjects, action)
    );
  }

  get deniedHosts(): readonly string[] {
    return this.#rules.flatMap(({ decision, permission: { network } = {} }) =>
      decision === "deny" && typeof network === "object" ? network.hosts : [],
    );
  }

  get addressRules(): readonly string[] {
    const rules = this.#rules.filter(({ decision }) => decision !== "deny");
    return rules
      .flatMap(({ permission = {} }) => hostsOf(permission))
      .filter((rule) => rule !== withoutAddresses(rule));
  }

  /** Reports whether a file change is one of the policy file itself, by any of its names. */
  #isChangedBy(action: Action, cwd: string): boolean {
    const own = realPathOf(this.source);
    return (
      action.kind === "fileChange" &&
      changedPaths(action).some((path) => realPathOf(resolve(cwd, path)) === own)
    );
  }

  #denied(rules: readonly PolicyRule[], subjects: readonly Subject[]): RuleDecision | undefined {
    const rule = rules.find(matching("deny", "yes", subjects));
    return rule && { decision: "deny", reason: `${this.#name(rule)} denies it.` };
  }

  #asked(rules: readonly PolicyRule[], subjects: readonly Subject[]): RuleDecision | undefined {
    const rule = rules.find(matching("ask", "yes", subjects));
    return rule && { decision: "ask", reason: `${this.#name(rule)} requires approval.` };
  }

  /** A command that cannot be compared with a deny or ask rule is not allowed, unless a rule allows exactly its text. */
  #unclear(rules: readonly PolicyRule[], subjects: readonly Subject[]): RuleDecision | undefined {
    const isNamed = (subject: Subject) =>
      rules.some(
        ({ decision, pattern }) =>
          decision === "allow" && pattern !== undefined && isExactly(pattern, subject),
      );
    const others = subjects.filter((subject) => !isNamed(subject));
    const rule =
      rules.find(matching("deny", "unknown", others)) ?? rules.find(matching("ask", "unknown", others));
    if (rule === undefined) return undefined;
    const reason = `It is not clear whether ${this.#name(rule)} matches. Use a plain command without shell syntax.`;
    return { decision: this.unanswered === "decline" ? "deny" : "ask", reason };
  }

  /**
   * Returns an allow decision if rules allow the action itself, unless that is not in question, and every
   * part of the permissions that it needs.
   */
  #allowed(
    rules: readonly PolicyRule[],
    subjects: readonly Subject[],
    action: Action,
  ): RuleDecision | undefined {
    const allowing = rules.filter(({ decision }) => decision === "allow");
    const own = asksForPermissionOnly(action) ? [] : subjects;
    const needed = neededParts(action.needs ?? {});
    const found = [
      ...own.map((subject) =>
        allowing.find(({ pattern }) => pattern !== undefined && allows(pattern, subject)),
      ),
      ...needed.map((part) => allowing.find((rule) => givesTo(rule, subjects, part))),
    ];
    const [first] = found;
    if (first === undefined || found.includes(undefined)) return undefined;
    return { decision: "allow", reason: `${this.#name(first)} allows it.` };
  }

  #name({ number, line }: PolicyRule): string {
    return `Rule ${number} of ${this.source}${line === undefined ? "" : ` (line ${line})`}`;
  }
}

function matching(decision: RuleDecision["decision"], match: Match, subjects: readonly Subject[]) {
  return ({ decision: own, pattern }: PolicyRule): boolean => {
    if (own !== decision) return false;
    if (pattern === undefined) return match === "yes";
    return subjects.some((subject) => matchOf(pattern, subject) === match);
  };
}

/** A rule about something beyond the sandbox says nothing about an action that does not need it. */
function isAbout({ decision, permission }: PolicyRule, needs: Permission): boolean {
  return decision === "allow" || permission === undefined || permissionsOverlap(permission, needs);
}

/** Reports whether a rule gives an action this part of what it needs. */
function givesTo({ pattern, permission = {} }: PolicyRule, subjects: readonly Subject[], part: Permission) {
  const isFor = pattern === undefined || subjects.every((subject) => allows(pattern, subject));
  // What is needed is a host; at which addresses it is reached does not depend on what connects.
  const hosts = hostsOf(permission).map(withoutAddresses);
  const given = hosts.length === 0 ? permission : { ...permission, network: { hosts } };
  return isFor && permissionCovers(given, part);
}

/** Returns the subjects of an action: its command, each of its files, or its tool. */
function subjectsOf(action: Action, cwd: string): Subject[] {
  switch (action.kind) {
    case "command":
      return [{ kind: "command", command: action.command }];
    case "fileChange":
      return changedPaths(action).map((path) => fileSubject(cwd, path));
    case "tool": {
      const { server, tool } = action;
      return [{ kind: "tool", name: server === undefined ? tool : `${server}/${tool}` }];
    }
  }
}

function fileSubject(cwd: string, path: string): Subject {
  return { kind: "fileChange", path: relativePath(cwd, path), realPath: realRelativePath(cwd, path) };
}

/** A path relative to its workspace, with `/` as the separator; undefined if it is outside. */
function relativePath(workspace: string, path: string): string | undefined {
  const inside = relative(workspace, resolve(workspace, path));
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`)) return undefined;
  return inside.split(sep).join("/");
}

/** The same after resolving symbolic links; undefined if the target is outside or cannot be resolved. */
function realRelativePath(workspace: string, path: string): string | undefined {
  const [root, target] = [realPathOf(workspace), realPathOf(resolve(workspace, path))];
  return root === undefined || target === undefined ? undefined : relativePath(root, target);
}

/** The real path, even if the last parts of it do not exist yet. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Missing or not accessible. A dangling link could point anywhere later.
    if (isLink(path)) return undefined;
    if (dirname(path) === path) return path;
    const folder = realPathOf(dirname(path));
    return folder === undefined ? undefined : join(folder, basename(path));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // It does not exist.
    return false;
  }
}
