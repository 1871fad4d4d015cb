import type { PolicyRule } from "./file-rules.ts";
import { allows, type Pattern } from "./pattern.ts";

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<PolicyRule["decision"], number>;

/** A rule that can never decide anything, and the stricter one that always decides before it. */
export interface ShadowedRule {
  readonly rule: PolicyRule;
  readonly by: PolicyRule;
}

/** The rules that a stricter one covers completely. Finds what can be seen in the patterns alone. */
export function shadowedRules(rules: readonly PolicyRule[]): readonly ShadowedRule[] {
  return rules.flatMap((rule) => {
    const by = rules.find((other) => isShadowedBy(rule, other));
    return by === undefined ? [] : [{ rule, by }];
  });
}

function isShadowedBy(rule: PolicyRule, by: PolicyRule): boolean {
  if (STRICTNESS[by.decision] <= STRICTNESS[rule.decision]) return false;
  if (by.agent !== undefined && by.agent !== rule.agent) return false;
  // Permissions beyond the sandbox are compared action by action.
  if (by.permission !== undefined || rule.permission !== undefined) return false;
  return rule.pattern !== undefined && by.pattern !== undefined && covers(by.pattern, rule.pattern);
}

function covers(wide: Pattern, narrow: Pattern): boolean {
  if (wide.kind === "command" && narrow.kind === "command") {
    if (wide.prefix === undefined && wide.command === undefined) return true;
    if (narrow.command !== undefined) return allows(wide, { kind: "command", command: narrow.command });
    return wide.prefix?.every((word, at) => narrow.prefix?.[at] === word) === true;
  }
  if (wide.kind === "fileChange" && narrow.kind === "fileChange") {
    return wide.path === undefined || wide.path === narrow.path;
  }
  return wide.kind === "tool" && narrow.kind === "tool" && wide.name === narrow.name;
}
