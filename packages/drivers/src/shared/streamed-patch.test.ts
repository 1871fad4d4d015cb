import { expect, test } from "vitest";
import { beginPatch, type PatchFields, streamPatch } from "./streamed-patch.ts";

const WRITE: PatchFields = { path: "path", prefixes: { content: "+" }, kind: "add" };
const PATCH: PatchFields = { path: undefined, prefixes: { patch: "" }, kind: "modify" };

/** All updates of the changes while this input is written, character by character. */
function updates(fields: PatchFields, input: object) {
  let patch = beginPatch(fields);
  return [...JSON.stringify(input)].flatMap((character) => {
    const next = streamPatch(patch, character, "/w");
    patch = next.patch;
    return next.changes === undefined ? [] : [next.changes];
  });
}

test("updates the changes rarely, however long the patch becomes", () => {
  const shown = updates(WRITE, { path: "a", content: "0123456789\n".repeat(4_000) });
  const characters = shown.reduce((sum, [change]) => sum + (change?.diff.length ?? 0), 0);
  expect(shown.length).toBeLessThan(40);
  expect(characters).toBeLessThan(400_000);
});

test("shows complete lines only, in a hunk that counts them", () => {
  for (const [change] of updates(WRITE, { path: "/w/a", content: "0123456789\n".repeat(400) })) {
    const [, count = "", body = ""] = /@@ -0,0 \+1,(\d+) @@\n([^@]*)$/.exec(change?.diff ?? "") ?? [];
    expect(change).toMatchObject({ path: "a", kind: "add" });
    expect(body).toBe("+0123456789\n".repeat(Number(count)));
  }
});

test("names no file before its path is known", () => {
  expect(updates(WRITE, { content: "one\n".repeat(1000), path: "a" })).toEqual([]);
});

test("divides a patch into its files, and counts the lines that the last hunk has so far", () => {
  const added = Array.from({ length: 200 }, (_, at) => `+line ${at}\n`).join("");
  const patch = [
    "--- a/one\n+++ b/one\n@@ -1,1 +1,1 @@\n-a\n+b\n@@ -9,1 +9,1 @@\n-c\n+d\n",
    "--- a/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n",
    `--- /dev/null\n+++ b/new\n@@ -0,0 +1,200 @@\n${added}`,
  ].join("");
  const last = updates(PATCH, { patch }).at(-1) ?? [];
  expect(last.map(({ path, kind }) => ({ path, kind }))).toEqual([
    { path: "one", kind: "modify" },
    { path: "gone", kind: "delete" },
    { path: "new", kind: "add" },
  ]);
  expect(last[0]?.diff).toBe(patch.slice(0, patch.indexOf("--- a/gone")));
  const lines = last[2]?.diff.match(/^\+line/gm)?.length;
  expect(last[2]?.diff).toContain(`@@ -0,0 +1,${lines} @@\n`);
});
