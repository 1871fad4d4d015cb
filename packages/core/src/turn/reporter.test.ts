import type { FileUpdateChange, ThreadItem, Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { aggregateDiff } from "./reporter.ts";

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
