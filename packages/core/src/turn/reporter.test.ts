import { type FileUpdateChange, type Item, LIMITS, type ThreadItem, type Turn } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { aggregateDiff, TurnCaps } from "./reporter.ts";

const OUTPUT = "item/commandExecution/outputDelta";
const command: Item<"commandExecution"> = {
  type: "commandExecution",
  id: "c",
  command: "yes",
  cwd: "/",
  status: "completed",
};

describe("the output of a command", () => {
  test("is accepted up to its limit in bytes, and the missing bytes are stated", () => {
    const caps = new TurnCaps();
    const half = "é".repeat(LIMITS.output / 4);
    expect(caps.admit(OUTPUT, "c", half)).toBe(half);
    expect(caps.admit(OUTPUT, "c", "x")).toBe("x");
    expect(caps.admit(OUTPUT, "c", half)).toBe(half.slice(0, -1));
    expect(caps.admit(OUTPUT, "c", "y")).toBe("");
    const finished = caps.finish({ ...command, aggregatedOutput: `${half}x` });
    expect(finished).toEqual({ ...command, aggregatedOutput: `${half}x`, omittedOutputBytes: 3 });
  });

  test("is cut in the middle if it comes at once and is too long", () => {
    const finished = new TurnCaps().finish({ ...command, aggregatedOutput: "x".repeat(LIMITS.output + 10) });
    if (!("aggregatedOutput" in finished) || !("omittedOutputBytes" in finished))
      throw new Error("no output");
    expect(finished.aggregatedOutput).toContain(`… ${finished.omittedOutputBytes} bytes left out …`);
    expect(String(finished.aggregatedOutput).length).toBeLessThanOrEqual(LIMITS.output);
  });

  test("adds what an agent has cut already to what we cut", () => {
    const aggregatedOutput = "x".repeat(LIMITS.output + 100);
    const own = new TurnCaps().finish({ ...command, aggregatedOutput });
    const both = new TurnCaps().finish({ ...command, aggregatedOutput, omittedOutputBytes: 5 });
    expect(Reflect.get(both, "omittedOutputBytes")).toBe(Number(Reflect.get(own, "omittedOutputBytes")) + 5);
  });

  test("is not made up if the completed item has none", () => {
    const caps = new TurnCaps();
    caps.admit(OUTPUT, "c", "x".repeat(LIMITS.output + 1));
    expect(caps.finish(command)).toEqual({ ...command, omittedOutputBytes: 1 });
  });
});

test("gives each text of an item its own limit, and messages a larger one", () => {
  const caps = new TurnCaps();
  const long = "x".repeat(LIMITS.text);
  expect(caps.admit("item/agentMessage/delta", "m", long)).toBe(long);
  expect(caps.admit("item/agentMessage/delta", "m", "y")).toBe("");
  expect(caps.admit("item/agentMessage/delta", "n", "y")).toBe("y");
  expect(caps.admit("item/reasoning/textDelta", "m", "y")).toBe("y");
});

test("cuts overlong text in completed messages, reasoning, plans and patches", () => {
  const long = "x".repeat(LIMITS.text + 1);
  const caps = new TurnCaps();
  const finished = [
    caps.finish({ type: "agentMessage", id: "a", text: long }),
    caps.finish({ type: "plan", id: "b", text: long }),
    caps.finish({ type: "reasoning", id: "c", content: long, summary: long }),
    caps.finish({ type: "fileChange", id: "d", changes: [], status: "completed", output: long }),
  ];
  for (const item of finished) {
    const texts = Object.values(item).filter((field) => typeof field === "string" && field.length > 100);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).toMatch(/bytes left out/);
  }
});

test("returns the same object for short items and unknown types", () => {
  const caps = new TurnCaps();
  const unknown = { type: "x-sculpture", id: "u", text: "x".repeat(LIMITS.text + 1) };
  expect(caps.finish(unknown)).toBe(unknown);
  expect(caps.finish(command)).toBe(command);
});

const HUNK = "@@ -1 +1 @@\n-a\n+b\n";

function turnOf(...items: ThreadItem[]): Turn {
  return { id: "u", status: "inProgress", items };
}

function change(status: "completed" | "declined" | "inProgress", ...changes: FileUpdateChange[]): ThreadItem {
  return { type: "fileChange", id: `f${changes.length}`, changes, status };
}

test("collects changes file by file, in the order of their first change", () => {
  const diff = aggregateDiff(
    turnOf(
      change("completed", { path: "/w/a", kind: "modify", diff: HUNK }),
      change("completed", { path: "/w/b", kind: "delete", diff: HUNK }),
      change("completed", { path: "/w/a", kind: "modify", diff: "@@ -2 +2 @@\n-c\n+d" }),
    ),
  );
  expect(diff).toBe(
    `--- a/w/a\n+++ b/w/a\n${HUNK}--- a/w/a\n+++ b/w/a\n@@ -2 +2 @@\n-c\n+d\n--- a/w/b\n+++ /dev/null\n${HUNK}`,
  );
});

test("leaves out changes that were not applied, and other items", () => {
  const item: ThreadItem = { type: "agentMessage", id: "m", text: "--- a/w/a" };
  const pending = change("inProgress", { path: "/w/a", kind: "modify", diff: HUNK });
  const declined = change("declined", { path: "/w/b", kind: "add", diff: HUNK });
  expect(aggregateDiff(turnOf(item, pending, declined, { type: "x-own", id: "x" }))).toBe("");
});

test("keeps the header of a diff that has one; a removed line of dashes is not a header", () => {
  const headed = `--- a/old\n+++ b/new\n${HUNK}`;
  const git = `diff --git a/x b/x\n${headed}`;
  const dashes = "@@ -1 +0 @@\n--- a comment\n";
  const diffs = [headed, git, dashes].map((diff) =>
    aggregateDiff(turnOf(change("completed", { path: "/w/a.sql", kind: "modify", diff }))),
  );
  expect(diffs).toEqual([headed, git, `--- a/w/a.sql\n+++ b/w/a.sql\n${dashes}`]);
});

test("shows both names of a moved file, and adds a slash to a relative path", () => {
  const moved: FileUpdateChange = { path: "/w/a", kind: "modify", diff: HUNK, movePath: "/w/b" };
  expect(aggregateDiff(turnOf(change("completed", moved)))).toBe(`--- a/w/a\n+++ b/w/b\n${HUNK}`);
  const relative: FileUpdateChange = { path: "a", kind: "add", diff: HUNK };
  expect(aggregateDiff(turnOf(change("completed", relative)))).toBe(`--- /dev/null\n+++ b/a\n${HUNK}`);
});
