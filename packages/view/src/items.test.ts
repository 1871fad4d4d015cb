import type { ThreadItem } from "@flint/protocol";
import { expectGolden } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { activityOf, rowOf } from "./items.ts";
import { spanText } from "./row.ts";
import { valueWords } from "./rows/calls.ts";
import { EVERY_ITEM, everyStatus } from "./testing/every-item.ts";

const line = (item: ThreadItem) => {
  const { family, status, title, outcome, body } = rowOf(item);
  const end = outcome === undefined ? "" : ` (${outcome})`;
  return `${family} ${status}: ${spanText(title)}${end} [${body.map(({ kind }) => kind).join(" ")}]`;
};

describe("rowOf", () => {
  test("has a row for every item type in every status", () => {
    const rows = Object.entries(everyStatus()).map(([name, item]) => [name, rowOf(item)]);
    expectGolden(new URL("./testing/fixtures/rows.json", import.meta.url), Object.fromEntries(rows));
  });

  test("names the rule or the grant that allowed something, and not what the settings allow anyway", () => {
    const { commandExecution, fileChange, mcpToolCall, toolCall } = EVERY_ITEM;
    for (const item of [commandExecution, fileChange, mcpToolCall, toolCall]) {
      const shown = (by: "policyFile" | "grant" | "setting" | "client") =>
        spanText(rowOf({ ...item, allowed: { by, reason: "Rule 1 allows it." } }).meta);
      expect(shown("policyFile")).toContain("Rule 1 allows it.");
      expect(shown("grant")).toContain("Rule 1 allows it.");
      expect(shown("setting")).not.toContain("Rule 1");
      expect(shown("client")).not.toContain("Rule 1");
    }
  });

  test.each([
    ["inProgress", undefined, "command inProgress: make []"],
    ["completed", 0, "command completed: make (exit 0) []"],
    ["completed", 2, "command failed: make (exit 2) []"],
    ["failed", undefined, "command failed: make (failed) []"],
    ["declined", undefined, "command declined: make (declined) []"],
  ] as const)("shows a command that is %s with exit code %s", (status, exitCode, expected) => {
    const command = { type: "commandExecution", id: "c", command: "make", cwd: "/", status } as const;
    expect(line(exitCode === undefined ? command : { ...command, exitCode })).toBe(expected);
  });

  test("shows an item of an unknown type with its id and its text", () => {
    const item = { type: "hologram", id: "h", beam: "wide", size: 3 };
    expect(line(item)).toBe("unknown completed: hologram h wide []");
    const failed = { ...item, status: "failed", parts: [1] };
    expect(line(failed)).toBe("unknown failed: hologram h wide failed [json]");
  });

  test("shows a tool call as text, with its subject first", () => {
    const words = (given: unknown, title?: string) =>
      spanText(rowOf({ ...EVERY_ITEM.toolCall, arguments: given, ...(title && { title }) }).meta);
    expect(words({ limit: 20, file_path: "/a.ts" })).toBe("/a.ts, limit 20");
    expect(words({ path: "a.ts" }, "Read a.ts")).toBe("");
    expect(words({ query: "x\ny", content: "z".repeat(500) })).toBe("x y");
    expect(words({ text: "z".repeat(500) })).toBe(`${"z".repeat(200)}…`);
    expect([words(undefined), words({}), words("a"), words([1, 2])]).toEqual(["", "", "a", "1, 2"]);
  });

  test("counts the lines of a diff and drops its header", () => {
    expect(rowOf(EVERY_ITEM.fileChange).body[0]).toMatchObject({
      lines: [
        { kind: "hunk", text: "@@ -8,3 +8,4 @@" },
        { kind: "context", text: " const one = 1;", oldLine: 8, newLine: 8 },
        { kind: "removed", text: "-const total = one;", oldLine: 9 },
        { kind: "added", text: "+const total = one + 1;", newLine: 9 },
        { kind: "added", text: '+const name = "sum";', newLine: 10 },
        { kind: "context", text: " export { total };", oldLine: 10, newLine: 11 },
      ],
      added: 2,
      removed: 1,
    });
  });

  test("keeps text as the agent sent it, and marks what must be shown exactly", () => {
    const command = { ...EVERY_ITEM.commandExecution, command: "rm\u00a0-rf \u202e/" };
    expect(rowOf(command).title).toEqual([{ text: "rm\u00a0-rf \u202e/", emphasis: "strong", exact: true }]);
  });

  test("gives the same row for the same item, and a new one for a changed item", () => {
    const item = EVERY_ITEM.commandExecution;
    expect(rowOf(item)).toBe(rowOf(item));
    expect(rowOf({ ...item })).not.toBe(rowOf(item));
  });
});

test("every item type has an activity", () => {
  for (const item of Object.values(EVERY_ITEM)) expect(activityOf(item)).toMatch(/^[A-Z]/);
  expect(activityOf({ type: "hologram", id: "h" })).toBe("Working");
});

test("a call that asks the user shows the questions, their options and the answers", () => {
  const options = [{ label: "red" }, { label: "blue", description: "like the sky" }];
  const questions = [{ id: "a", question: "Which colour?", options }, { question: "Why?" }];
  const result = { a: { answers: ["red", "blue"] }, b: { answers: ["because"] } };
  const call = { ...EVERY_ITEM.toolCall, arguments: { questions }, result };
  const { meta, body } = rowOf(call);
  expect(meta.map(({ text }) => text)).toContain("Which colour? Why?");
  const texts = body.flatMap((block) => (block.kind === "output" ? [block.text] : []));
  expect(texts.join("\n")).toBe("Which colour?  red / blue\nWhy?\nred, blue\nbecause");
  const other = rowOf({ ...call, arguments: { questions: [{ question: 1 }] } });
  expect(other.body).toContainEqual(expect.objectContaining({ kind: "json", label: "arguments" }));
});

test("shows the arguments of a tool as words", () => {
  expect(valueWords({ path: "notes.txt", lines: 3, edits: [{ old: "a", new: "b" }] })).toBe(
    "path: notes.txt, lines: 3, edits: ((old: a, new: b))",
  );
  expect(valueWords(["a", null])).toBe("a, null");
});
