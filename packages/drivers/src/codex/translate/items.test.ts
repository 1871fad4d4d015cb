import { expect, test } from "vitest";
import { fileChange } from "./items.ts";

test("shows a new and a deleted file as complete diffs with relative paths", () => {
  expect(fileChange({ path: "/w/a/b.txt", kind: { type: "add" }, diff: "one\ntwo\n" }, "/w")).toEqual({
    path: "a/b.txt",
    kind: "add",
    diff: "--- /dev/null\n+++ b/a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
  });
  expect(fileChange({ path: "/else/c", kind: { type: "delete" }, diff: "x" }, "/w")).toEqual({
    path: "/else/c",
    kind: "delete",
    diff: "--- a//else/c\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n",
  });
  expect(fileChange({ path: "/w/empty", kind: { type: "add" }, diff: "" }, "/w").diff).toBe(
    "--- /dev/null\n+++ b/empty\n",
  );
});

test("adds the header of a changed file if Codex omits it", () => {
  const hunk = "@@ -1 +1 @@\n-a\n+b\n";
  const whole = `--- a/x\n+++ b/x\n${hunk}`;
  for (const diff of [hunk, `--- old\n+++ new\n${hunk}`]) {
    expect(fileChange({ path: "/w/x", kind: { type: "update", move_path: null }, diff }, "/w").diff).toBe(
      whole,
    );
  }
});

test("shows a rename, with or without a change", () => {
  const kind = { type: "update", move_path: "/w/to" };
  const renamed = "diff --git a/from b/to\nrename from from\nrename to to\n";
  expect(
    fileChange({ path: "/w/from", kind, diff: "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /w/to" }, "/w"),
  ).toEqual({
    path: "from",
    movePath: "to",
    kind: "modify",
    diff: `${renamed}--- a/from\n+++ b/to\n@@ -1 +1 @@\n-a\n+b\n`,
  });
  expect(fileChange({ path: "/w/from", kind, diff: "" }, "/w").diff).toBe(renamed);
});
