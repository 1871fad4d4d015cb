import { describe, expect, test } from "vitest";
import {
  Action,
  Approval,
  describeRule,
  exactKey,
  grantKeys,
  QuestionRequest,
  Resolution,
  Rule,
  type RuleMatch,
  ruleSubjects,
} from "./approval.ts";

const command = { kind: "command", itemId: "i1", command: "npm test", cwd: "/repo" } as const;
const change = { path: "/repo/a.ts", kind: "modify", diff: "@@" } as const;

describe("a grant", () => {
  test("names the exact command and its folder", () => {
    expect(grantKeys(command)).toEqual(['command:["/repo","npm test"]']);
    expect(grantKeys({ ...command, cwd: "/" })).not.toEqual(grantKeys(command));
    expect(grantKeys({ ...command, command: "npm test && rm -rf /" })).not.toEqual(grantKeys(command));
    const [left, right] = [
      { ...command, cwd: "/a", command: "b:c" },
      { ...command, cwd: "/a:b", command: "c" },
    ];
    expect(grantKeys(left)).not.toEqual(grantKeys(right));
  });

  test("names every file of a change, and the new path of a moved one", () => {
    const moved = { ...change, path: "/repo/b.ts", movePath: "/repo/c.ts" };
    const keys = grantKeys({ kind: "fileChange", itemId: "i1", changes: [change, moved] });
    expect(keys).toEqual(["file:/repo/a.ts", "file:/repo/b.ts", "file:/repo/c.ts"]);
  });

  test("names a tool with its server and exactly its arguments", () => {
    const tool = { kind: "tool", itemId: "i1", tool: "search" } as const;
    const searched = { ...tool, arguments: { words: "a" } };
    expect(grantKeys(searched)).toEqual(['tool:["","search",{"words":"a"}]']);
    expect([grantKeys(tool), grantKeys({ ...tool, server: "docs" })]).toEqual([
      ['tool:["","search",null]'],
      ['tool:["docs","search",null]'],
    ]);
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

const rule = { id: "r1", project: "/repo", agent: "flint", tool: "command", createdAt: 1 } as const;
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
      "commands that begin with: npm test",
      "the command: npm test (in /repo)",
      "changes of the file: /repo/a",
      'the tool: docs/search with {"word":"a"}',
    ]);
  });
});

describe("an exact match", () => {
  const tool: Action = { kind: "tool", itemId: "i", tool: "command", arguments: { command: "npm test" } };

  test("has another key for every kind of action, whatever the name of the tool", () => {
    const [subject] = ruleSubjects(tool);
    const keys = [
      exactKey("command", subject?.match ?? prefix),
      exactKey("command", exactCommand),
      exactKey("fileChange", exactCommand),
      exactKey("command", { type: "exact", path: "/repo/a" }),
      exactKey("command", prefix),
    ];
    expect(keys).toEqual([
      'tool:["","command",{"command":"npm test"}]',
      'command:["/repo","npm test"]',
      undefined,
      undefined,
      undefined,
    ]);
  });

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

  test("is each host and each path that an action needs beyond its sandbox", () => {
    const needs = { network: { hosts: ["registry.example:443"] }, write: ["/cache"] };
    const needed = ["network:registry.example:443", "write:/cache"];
    expect(grantKeys({ ...command, needs })).toEqual([...grantKeys(command), ...needed]);
    expect(grantKeys({ ...command, needs, running: true })).toEqual(needed);
    expect(grantKeys({ ...command, needs: { network: "all" }, running: true })).toEqual(["network:*"]);
  });

  test("outside of the sandbox is not the same inside", () => {
    const [inside] = grantKeys(command);
    expect(grantKeys({ ...command, needs: { unconfined: true } })).toEqual([`unconfined:${inside}`]);
  });
});
