import { describe, expect, test } from "vitest";
import { Action } from "./action.ts";
import { Approval, grantsMadeBy, QuestionRequest, Resolution } from "./approval.ts";
import { grantKeys, Rule, type RuleMatch, ruleSubjects } from "./grant.ts";
import { describeRule } from "./grant-words.ts";
import type { Decision } from "./policy.ts";

const command = { kind: "command", itemId: "i1", command: "npm test", cwd: "/repo" } as const;
const change = { path: "/repo/a.ts", kind: "modify", diff: "@@" } as const;

describe("a key", () => {
  test("names the exact command and its folder", () => {
    expect(grantKeys({ ...command, cwd: "/" })).not.toEqual(grantKeys(command));
    expect(grantKeys({ ...command, command: "npm test && rm -rf /" })).not.toEqual(grantKeys(command));
    const [left, right] = [
      { ...command, cwd: "/a", command: "b:c" },
      { ...command, cwd: "/a:b", command: "c" },
    ];
    expect(grantKeys(left)).not.toEqual(grantKeys(right));
  });

  test("is different outside of the sandbox, and with a host", () => {
    const keys = [{}, { needs: { unconfined: true } }, { needs: { network: "all" } }] as const;
    expect(new Set(keys.flatMap((more) => grantKeys({ ...command, ...more }))).size).toBe(3);
  });

  test("is different for every kind of action, whatever the name of the tool", () => {
    const tool = { kind: "tool", itemId: "i", tool: "command", arguments: { command: "npm test" } } as const;
    expect(grantKeys(tool)).not.toEqual(grantKeys(command));
    expect(grantKeys({ ...tool, server: "docs" })).not.toEqual(grantKeys(tool));
  });
});

describe("an approval", () => {
  test.each([
    command,
    { ...command, reason: "to see whether it works" },
    { kind: "fileChange", itemId: "i1", changes: [change] },
    { kind: "tool", itemId: "i1", tool: "search", server: "docs", arguments: ["any", { shape: 1 }] },
  ])("can be about %j", (action) => {
    const approval = { id: "a1", turnId: "u1", action, requestedAtMs: 1, expiresAtMs: 2 };
    expect(Action.parse(action)).toEqual(action);
    expect(Approval.parse(approval)).toEqual(approval);
  });

  test.each([
    ["a command that is not shown", { ...command, command: undefined }],
    ["a file change that is not shown", { kind: "fileChange", itemId: "i1" }],
    ["an item that could be a path", { ...command, itemId: "../x" }],
    ["an unknown kind of action", { kind: "launch", itemId: "i1" }],
  ])("cannot be about %s", (_name, action) => {
    expect(Action.safeParse(action).success).toBe(false);
  });

  test("has who resolved it", () => {
    const resolution = { decision: { outcome: "deny", scope: "once" }, by: "timeout" };
    expect(Resolution.parse(resolution)).toEqual(resolution);
    expect(Resolution.safeParse({ ...resolution, by: "unknown" }).success).toBe(false);
  });
});

test("a question may offer choices, accept several, or be secret", () => {
  const request = {
    id: "q1",
    turnId: "u1",
    itemId: "i1",
    questions: [
      {
        id: "where",
        question: "Where to?",
        options: [{ label: "staging", description: "safe" }],
        multiple: true,
      },
      { id: "token", header: "Login", question: "The token?", secret: true },
    ],
    requestedAtMs: 1,
    expiresAtMs: 2,
  };
  expect(QuestionRequest.parse(request)).toEqual(request);
});

const rule = {
  ...{ id: "r1", project: "/repo", agent: "flint", tool: "command" },
  ...{ scope: "always", words: "run it", grantedAt: 1 },
} as const;
const prefix: RuleMatch = { type: "prefix", words: ["npm", "test"] };
const exactCommand: RuleMatch = { type: "exact", command: "npm test", cwd: "/repo" };

describe("a rule", () => {
  test.each([prefix, exactCommand, { type: "exact", path: "/repo/a" }, { type: "exact", arguments: null }])(
    "can cover %j",
    (match) => {
      expect(Rule.parse({ ...rule, match })).toEqual({ ...rule, match });
    },
  );

  test.each([
    ["a program whatever it does", { type: "prefix", words: ["npm"] }],
    ["an empty word", { type: "prefix", words: ["npm", ""] }],
    ["nothing", { type: "prefix", words: [] }],
    ["a pattern", { type: "glob", pattern: "**" }],
  ])("cannot cover %s", (_name, match) => {
    expect(Rule.safeParse({ ...rule, match }).success).toBe(false);
  });

  test("describes what it covers", () => {
    const words = [
      describeRule({ tool: "command", match: prefix }),
      describeRule({ tool: "command", match: exactCommand }),
      describeRule({ tool: "fileChange", match: { type: "exact", path: "/repo/a" } }),
      describeRule({ tool: "search", match: { type: "exact", server: "docs", arguments: { word: "a" } } }),
    ];
    expect(words).toEqual([
      "run commands that begin with: npm test",
      "run: npm test (in /repo)",
      "change the file /repo/a in any way",
      'call docs/search with {"word":"a"}',
    ]);
  });
});

describe("what an action does", () => {
  test("is each file of a change, and the path that a file is moved to", () => {
    const changes = [
      { path: "/a", kind: "modify", diff: "", movePath: "/b" },
      { path: "/c", kind: "add", diff: "" },
    ] as const;
    const subjects = ruleSubjects({ kind: "fileChange", itemId: "i", changes: [...changes] });
    expect(subjects).toEqual(
      ["/a", "/b", "/c"].map((path) => ({ tool: "fileChange", match: { type: "exact", path } })),
    );
  });

  const needs = { network: { hosts: ["registry.example:443"] }, write: ["/cache"] };

  test("is one command together with what it needs, so that no other command gets that", () => {
    expect(ruleSubjects({ ...command, needs })).toEqual([
      { tool: "command", match: { type: "exact", command: "npm test", cwd: "/repo" }, permission: needs },
    ]);
  });

  test("is each host and path where the command runs already, or there is none", () => {
    const parts = [
      { tool: "network", match: { type: "any" }, permission: { network: needs.network } },
      { tool: "write", match: { type: "any" }, permission: { write: ["/cache"] } },
    ];
    expect(ruleSubjects({ ...command, needs, running: true })).toEqual(parts);
    expect(ruleSubjects({ kind: "tool", itemId: "i", tool: "network", needs })).toEqual(parts);
  });
});

describe("an answer", () => {
  const asked = {
    id: "a1",
    turnId: "u1",
    requestedAtMs: 1,
    expiresAtMs: 2,
    project: "/repo",
    agent: "flint",
  };
  const made = (action: Action, decision: Partial<Decision>) =>
    grantsMadeBy({ ...asked, action }, { outcome: "allow", scope: "session", ...decision }, 7);

  test("grants exactly what was asked, in the words that were shown", () => {
    const needs = { network: { hosts: ["registry.example:443"] } };
    const [grant, ...others] = made({ ...command, needs }, {});
    expect(others).toEqual([]);
    expect(grant).toEqual({
      ...{ id: "a1", project: "/repo", agent: "flint", tool: "command", permission: needs },
      match: { type: "exact", command: "npm test", cwd: "/repo" },
      words: "run: npm test (in /repo), which may connect to registry.example (port 443)",
      ...{ scope: "session", grantedAt: 7 },
    });
  });

  test.each<[string, Action, Partial<Decision>]>([
    ["only this time", command, { scope: "once" }],
    ["no", command, { outcome: "deny" }],
    ["leaving the sandbox for always", { ...command, needs: { unconfined: true } }, { scope: "always" }],
    ["every host for always", { ...command, needs: { network: "all" } }, { scope: "always" }],
  ])("grants nothing for %s", (_name, action, decision) => {
    expect(made(action, decision)).toEqual([]);
  });
});
