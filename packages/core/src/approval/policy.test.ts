import type { Action, ApprovalPolicy } from "@flint/protocol";
import { verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import type { RuleDecision } from "../ports/index.ts";
import { judge } from "./policy.ts";
import { isWorkspaceEdit } from "./sandbox-bounds.ts";

const reading: Action = { kind: "command", itemId: "i", command: "ls", cwd: "/project" };
const command: Action = { kind: "command", itemId: "i", command: "rm a", cwd: "/project" };
const change: Action = { kind: "fileChange", itemId: "i", changes: [{ path: "/a", kind: "add", diff: "" }] };
const tool: Action = { kind: "tool", itemId: "i", tool: "fetch" };

type Row = readonly [ApprovalPolicy, Action, boolean, "allow" | "ask"];

const TABLE: readonly Row[] = [
  ["never", command, false, "allow"],
  ["never", change, false, "allow"],
  ["never", tool, false, "allow"],
  ["onRequest", reading, false, "allow"],
  ["onRequest", command, false, "ask"],
  ["onRequest", tool, false, "ask"],
  ["unlessTrusted", reading, false, "allow"],
  ["unlessTrusted", command, false, "ask"],
  ["unlessTrusted", change, false, "ask"],
  ["unlessTrusted", tool, false, "ask"],
  ["unlessTrusted", command, true, "allow"],
  ["unlessTrusted", change, true, "allow"],
  ["always", reading, false, "ask"],
  ["always", command, false, "ask"],
  ["always", change, false, "ask"],
  ["always", tool, false, "ask"],
  ["always", command, true, "allow"],
];

verifies("S0-67", "never, onRequest, unlessTrusted and always each behave as named", () => {
  for (const [approvalPolicy, action, granted, expected] of TABLE) {
    const { kind } = judge({ approvalPolicy, action, granted });
    expect(kind, `${approvalPolicy} ${action.kind} ${granted}`).toBe(expected);
  }
});

test("allows a command that can only read where it runs, unless everything is asked about or a rule says otherwise", () => {
  const onlyReads = true;
  const verdict = (input: Partial<Parameters<typeof judge>[0]>) =>
    judge({ approvalPolicy: "unlessTrusted", action: command, granted: false, onlyReads, ...input }).kind;
  expect(verdict({})).toBe("allow");
  expect(verdict({ onlyReads: false })).toBe("ask");
  expect(verdict({ approvalPolicy: "always" })).toBe("ask");
  expect(verdict({ action: { ...command, command: "ls \u202e" } })).toBe("ask");
  expect([change, tool].map((action) => verdict({ action }))).toEqual(["ask", "ask"]);
  for (const decision of ["ask", "deny"] as const) {
    expect(verdict({ ruleDecision: { decision, reason: "" } })).toBe(decision);
  }
});

test("accepts edits of plain files in the workspace, and nothing else", () => {
  const actor = {
    project: "/project",
    realPath: (path: string) => path.replace("/project/link", "/elsewhere"),
  };
  const edit = (...paths: string[]): Action => ({
    ...{ kind: "fileChange", itemId: "i" },
    changes: paths.map((path) => ({ path, kind: "modify", diff: "" })),
  });
  const accepted = [edit("/project/a"), edit("/project/src/b.ts", "c.ts")];
  const asked = [
    ...[edit("/other/a"), edit("/project"), edit("/project/.git/hooks/x"), edit("/project/a", "/etc/passwd")],
    ...[edit("/project/../x"), edit("/project/link/x"), edit(), command, tool],
  ];
  expect(accepted.map((action) => isWorkspaceEdit(action, actor))).toEqual([true, true]);
  expect(asked.filter((action) => isWorkspaceEdit(action, actor))).toEqual([]);
  const judged = (approvalPolicy: ApprovalPolicy, ruleDecision?: RuleDecision) =>
    judge({ approvalPolicy, action: change, granted: false, isAcceptedEdit: true, ruleDecision }).kind;
  expect([judged("unlessTrusted"), judged("unlessTrusted", { decision: "deny", reason: "" })]).toEqual([
    ...["allow", "deny"],
  ]);
});

test("asks about no command that stays in the sandbox where commands are accepted", () => {
  const judged = (approvalPolicy: ApprovalPolicy, action: Action, ruleDecision?: RuleDecision) =>
    judge({ approvalPolicy, action, granted: false, acceptsCommands: true, ruleDecision }).kind;
  expect(judged("unlessTrusted", command)).toBe("allow");
  expect([
    judged("always", command),
    judged("unlessTrusted", { ...command, needs: { network: "all" } }),
    judged("unlessTrusted", tool),
    judged("unlessTrusted", command, { decision: "ask", reason: "" }),
  ]).toEqual(["ask", "ask", "ask", "ask"]);
});

test("asks about nothing that stays in the sandbox under onRequest, and about all that does not", () => {
  const judged = (action: Action, more: Partial<Parameters<typeof judge>[0]> = {}) =>
    judge({ approvalPolicy: "onRequest", action, granted: false, staysInside: true, ...more }).kind;
  expect([judged(command), judged(change)]).toEqual(["allow", "allow"]);
  expect([
    judged({ ...command, command: "ls \u202e" }),
    judged(command, { staysInside: false }),
    judged(command, { ruleDecision: { decision: "ask", reason: "" } }),
    judged(command, { approvalPolicy: "unlessTrusted" }),
    judged(command, { approvalPolicy: "always" }),
  ]).toEqual(Array(5).fill("ask"));
});

test("never allows anything beyond the sandbox without a grant or an answer", () => {
  const needs = { network: { hosts: ["registry.example:443"] } };
  const kinds = (["never", "onRequest", "unlessTrusted", "always"] as const).map((approvalPolicy) =>
    [false, true].map((granted) => judge({ approvalPolicy, action: { ...reading, needs }, granted }).kind),
  );
  expect(kinds).toEqual([
    ["deny", "allow"],
    ["ask", "allow"],
    ["ask", "allow"],
    ["ask", "allow"],
  ]);
});

test("gives the user a reason", () => {
  const reasons = [reading, change, tool].map((action) => {
    const verdict = judge({ approvalPolicy: "always", action, granted: false });
    return verdict.kind === "ask" ? verdict.reason : "";
  });
  expect(reasons).toEqual(Array(3).fill("Every action needs approval."));
  const why = [command, change, tool].map((action) =>
    judge({ approvalPolicy: "unlessTrusted", action, granted: false }),
  );
  expect(why).toEqual([
    { kind: "ask", reason: "The command is not known to be read-only." },
    { kind: "ask", reason: "File changes need approval." },
    { kind: "ask", reason: "The tool is not known to be read-only." },
  ]);
});

test("a rule that applies commits asks about those that change protected files, and declines them unattended", () => {
  const judged = (approvalPolicy: ApprovalPolicy, given: object) => {
    const action: Action = { ...tool, tool: "git", needs: { git: true }, arguments: given };
    const ruleDecision = { decision: "allow", reason: "" } as const;
    return judge({ approvalPolicy, action, granted: false, ruleDecision }).kind;
  };
  const policies = ["unlessTrusted", "onRequest", "always", "never"] as const;
  expect(policies.map((policy) => judged(policy, {}))).toEqual(["allow", "allow", "allow", "allow"]);
  const given = { protectedPaths: [".npmrc"] };
  expect(policies.map((policy) => judged(policy, given))).toEqual(["ask", "ask", "ask", "deny"]);
});

describe("a rule of the policy file", () => {
  const ruleDecision = (decision: RuleDecision["decision"]) => ({
    decision,
    reason: `Rule 1 of p.toml says ${decision}.`,
  });

  test.each<ApprovalPolicy>(["never", "onRequest", "unlessTrusted", "always"])(
    "comes before the approval policy %s and before earlier grants",
    (approvalPolicy) => {
      const kinds = (["deny", "ask", "allow"] as const).map(
        (decision) =>
          judge({ approvalPolicy, action: reading, granted: true, ruleDecision: ruleDecision(decision) })
            .kind,
      );
      expect(kinds).toEqual(["deny", "ask", "allow"]);
      expect(
        judge({ approvalPolicy, action: command, granted: false, ruleDecision: ruleDecision("allow") }).kind,
      ).toBe("allow");
    },
  );

  test("gives its reason", () => {
    const input = { approvalPolicy: "unlessTrusted", action: command, granted: false } as const;
    expect(judge({ ...input, ruleDecision: ruleDecision("deny") })).toEqual({
      kind: "deny",
      reason: "Rule 1 of p.toml says deny.",
    });
    expect(judge({ ...input, ruleDecision: ruleDecision("ask") })).toEqual({
      kind: "ask",
      reason: "Rule 1 of p.toml says ask.",
    });
  });

  test("is not needed: what would be asked about is declined if the file says so, and the rest is unchanged", () => {
    const policyRules = { unanswered: "decline", source: "p.toml" } as const;
    const reason = 'No rule of p.toml allows it; add one, or set unanswered = "ask".';
    const verdict = (approvalPolicy: ApprovalPolicy, action: Action, granted = false) =>
      judge({ approvalPolicy, action, granted, policyRules });
    expect(verdict("unlessTrusted", command)).toEqual({ kind: "deny", reason });
    expect(verdict("always", reading)).toEqual({ kind: "deny", reason });
    expect(verdict("unlessTrusted", reading).kind).toBe("allow");
    expect(verdict("unlessTrusted", command, true).kind).toBe("allow");
    expect(verdict("never", command).kind).toBe("allow");
    const asking = judge({
      ...{ approvalPolicy: "unlessTrusted", action: command, granted: false },
      policyRules: { ...policyRules, unanswered: "ask" },
    });
    expect(asking.kind).toBe("ask");
  });
});

describe("an action with hidden characters", () => {
  const hidden: Action = { ...command, command: "ls \u202ea" };

  test("is never granted, and the user is warned", () => {
    const allowed: RuleDecision = { decision: "allow", reason: "" };
    const verdicts = (["unlessTrusted", "always"] as const).map((approvalPolicy) =>
      judge({ approvalPolicy, action: hidden, granted: true, ruleDecision: allowed }),
    );
    const reason = "It contains characters that cannot be seen.";
    expect(verdicts).toEqual(Array(2).fill({ kind: "ask", reason, warning: reason }));
    const ruled = judge({
      ...{ approvalPolicy: "never", action: hidden, granted: true },
      ruleDecision: { decision: "ask", reason: "Rule 1." },
    });
    expect(ruled).toEqual({ kind: "ask", reason: "Rule 1.", warning: reason });
  });

  test("is allowed where nothing is asked about", () => {
    expect(judge({ approvalPolicy: "never", action: hidden, granted: false }).kind).toBe("allow");
  });
});

describe("an allowed action names what allowed it", () => {
  const reasonOf = (input: Partial<Parameters<typeof judge>[0]>) => {
    const verdict = judge({ approvalPolicy: "unlessTrusted", action: command, granted: false, ...input });
    return verdict.kind === "allow" ? `${verdict.allowance.by}: ${verdict.allowance.reason}` : verdict.kind;
  };
  const ruleDecision: RuleDecision = { decision: "allow", reason: "Rule 2 allows it." };
  const grants = [{ scope: "always", words: "run: rm a (in /project)" }] as const;

  test.each([
    ["a rule of the policy file", { ruleDecision }, "policyFile: Rule 2 allows it."],
    [
      "the rule with approvals off",
      { ruleDecision, approvalPolicy: "never" },
      "policyFile: Rule 2 allows it.",
    ],
    ["a saved rule", { granted: true, grants }, "grant: A saved rule allows it: run: rm a (in /project)."],
    ["approvals that are off", { approvalPolicy: "never" }, "setting: Approvals are off."],
    [
      "accepted edits",
      { action: change, isAcceptedEdit: true },
      "setting: Edits in the workspace need no approval.",
    ],
    ["accepted commands", { acceptsCommands: true }, "setting: Commands in the sandbox need no approval."],
    ["a sandbox for reading", { onlyReads: true }, "setting: The sandbox prevents writing."],
    ["a read-only command", { action: reading }, "setting: The command is known to be read-only."],
  ] as const)("%s", (_what, input, expected) => {
    expect(reasonOf(input)).toBe(expected);
  });
});
