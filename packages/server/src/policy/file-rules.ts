import type { PolicyRules, Ruling } from "@flint/core/ports";
import type { Action } from "@flint/protocol";
import { fitOf, isAllowedBy, namesExactly, type Pattern, type Subject } from "./pattern.ts";
import { inWorkspace, reallyInWorkspace } from "./workspace-path.ts";

/** One rule of a policy file. */
export interface PolicyRule {
  /** Which one it is, from 1. */
  readonly number: number;
  readonly line: number | undefined;
  readonly decision: Ruling["decision"];
  /** The only agent it holds for; all if there is none. */
  readonly agent: string | undefined;
  readonly pattern: Pattern;
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

  judge(action: Action, agent: string, cwd: string): Ruling | undefined {
    const subjects = subjectsOf(action, cwd);
    const rules = this.#rules.filter((rule) => rule.agent === undefined || rule.agent === agent);
    return (
      this.#denied(rules, subjects) ??
      this.#asked(rules, subjects) ??
      this.#unclear(rules, subjects) ??
      this.#allowed(rules, subjects)
    );
  }

  #denied(rules: readonly PolicyRule[], subjects: readonly Subject[]): Ruling | undefined {
    const rule = rules.find(speaks("deny", "yes", subjects));
    return rule && { decision: "deny", reason: `${this.#name(rule)} denies it.` };
  }

  #asked(rules: readonly PolicyRule[], subjects: readonly Subject[]): Ruling | undefined {
    const rule = rules.find(speaks("ask", "yes", subjects));
    return rule && { decision: "ask", reason: `${this.#name(rule)} wants it to be asked about.` };
  }

  /** What cannot be compared with a rule that forbids is not allowed, unless a rule names it sign by sign. */
  #unclear(rules: readonly PolicyRule[], subjects: readonly Subject[]): Ruling | undefined {
    const named = (subject: Subject) =>
      rules.some(({ decision, pattern }) => decision === "allow" && namesExactly(pattern, subject));
    const open = subjects.filter((subject) => !named(subject));
    const rule = rules.find(speaks("deny", "unsure", open)) ?? rules.find(speaks("ask", "unsure", open));
    if (rule === undefined) return undefined;
    const reason = `It cannot be told whether ${this.#name(rule)} speaks of it. A plain command without shell syntax can be compared.`;
    return { decision: this.unanswered === "decline" ? "deny" : "ask", reason };
  }

  #allowed(rules: readonly PolicyRule[], subjects: readonly Subject[]): Ruling | undefined {
    const allowing = subjects.map((subject) =>
      rules.find(({ decision, pattern }) => decision === "allow" && isAllowedBy(pattern, subject)),
    );
    const [first] = allowing;
    if (first === undefined || allowing.includes(undefined)) return undefined;
    return { decision: "allow", reason: `${this.#name(first)} allows it.` };
  }

  #name({ number, line }: PolicyRule): string {
    return `Rule ${number} of ${this.source}${line === undefined ? "" : ` (line ${line})`}`;
  }
}

function speaks(decision: Ruling["decision"], fit: "yes" | "unsure", subjects: readonly Subject[]) {
  return (rule: PolicyRule): boolean =>
    rule.decision === decision && subjects.some((subject) => fitOf(rule.pattern, subject) === fit);
}

/** What an action is about, one by one. */
function subjectsOf(action: Action, cwd: string): Subject[] {
  switch (action.kind) {
    case "command":
      return [{ kind: "command", command: action.command }];
    case "fileChange":
      return action.changes
        .flatMap(({ path, movePath }) => (movePath === undefined ? [path] : [path, movePath]))
        .map((path) => fileSubject(cwd, path));
    case "tool": {
      const { server, tool } = action;
      return [{ kind: "tool", name: server === undefined ? tool : `${server}/${tool}` }];
    }
  }
}

function fileSubject(cwd: string, path: string): Subject {
  return { kind: "fileChange", path: inWorkspace(cwd, path), realPath: reallyInWorkspace(cwd, path) };
}
