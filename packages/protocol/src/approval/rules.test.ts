import { describe, expect, test } from "vitest";
import type { Action } from "./rules.ts";
import { describeRule, exactKey, exactMatches, Rule, type RuleMatch } from "./rules.ts";

const rule = { id: "r1", project: "/repo", agent: "flint", tool: "command", createdAt: 1 } as const;
const prefix: RuleMatch = { type: "prefix", words: ["npm", "test"] };
const command: RuleMatch = { type: "exact", command: "npm test", cwd: "/repo" };

describe("a rule", () => {
  test.each([prefix, command, { type: "exact", path: "/repo/a" }, { type: "exact", arguments: null }])(
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
  ])("can not cover %s", (_name, match) => {
    expect(Rule.safeParse({ ...rule, match }).success).toBe(false);
  });

  test("says what it covers", () => {
    const words = [
      describeRule({ tool: "command", match: prefix }),
      describeRule({ tool: "command", match: command }),
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

describe("an exact thing", () => {
  const tool: Action = { kind: "tool", itemId: "i", tool: "command", arguments: { command: "npm test" } };

  test("of one kind is never one of another kind, whatever its tool is called", () => {
    const [match] = exactMatches(tool);
    const keys = [
      exactKey("command", match ?? prefix),
      exactKey("command", command),
      exactKey("fileChange", command),
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

  test("is each file of a change, with the place a file is moved to", () => {
    const changes = [
      { path: "/a", kind: "modify", diff: "", movePath: "/b" },
      { path: "/c", kind: "add", diff: "" },
    ] as const;
    const matches = exactMatches({ kind: "fileChange", itemId: "i", changes: [...changes] });
    expect(matches).toEqual(["/a", "/b", "/c"].map((path) => ({ type: "exact", path })));
  });
});
