import { readFileSync, writeFileSync } from "node:fs";
import type { ModelPart } from "@flint/agent/model";
import { textStep } from "@flint/agent/testing";
import type { DriverEvent } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openSession } from "./testing/session-fixture.ts";

const sandbox = new CommandSandbox({ environment: process.env });

/** A response with one call, whose input comes in pieces of this size. */
function written(tool: string, input: Readonly<Record<string, unknown>>, size = 7): ModelPart[] {
  const call = { callId: "call", tool, input };
  const pieces = JSON.stringify(input).match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  return [
    { type: "text-delta", text: "I write it." },
    ...pieces.map((json): ModelPart => ({ type: "tool-input", callId: "call", tool, json })),
    { type: "tool-call", ...call },
    { type: "finish", reason: "tools" },
  ];
}

async function played(parts: readonly ModelPart[], files: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(folder.join(name), content);
  const bench = openSession({ cwd: folder.path, sandbox, steps: [parts, textStep("Done.")] });
  onTestFinished(() => bench.session.close());
  const { turn, outcome } = await bench.run("go");
  const items = turn.events.filter((event) => isOfFile(event));
  return { folder, turn, outcome, items, deltas: turn.events.flatMap(deltaOf).join("") };
}

const isOfFile = (event: DriverEvent) =>
  event.type.startsWith("item/fileChange") || ("item" in event && event.item.type === "fileChange");

const deltaOf = (event: DriverEvent) => (event.type === "item/fileChange/outputDelta" ? [event.delta] : []);

test("streams a file while the model writes it, as one item that ends as what was done [S0-58] [S2-39]", async () => {
  const content = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join("");
  const { folder, items, deltas, turn } = await played(written("write_file", { path: "a.txt", content }));
  expect(deltas).toBe(`+++ b/a.txt\n${content.replace(/^(?=.)/gm, "+")}`);
  const types = items.map(({ type }) => type);
  expect(types[0]).toBe("item/started");
  expect(types.filter((type) => type === "item/started")).toHaveLength(1);
  expect(items[0]).toMatchObject({ item: { changes: [], status: "inProgress" } });
  const updates = items.flatMap((event) => (event.type === "item/fileChange/patchUpdated" ? [event] : []));
  expect(updates.length).toBeGreaterThan(1);
  expect(updates.length).toBeLessThan(8);
  expect(updates[0]?.changes).toMatchObject([{ path: folder.join("a.txt"), kind: "add" }]);
  expect(updates[0]?.changes[0]?.diff).toMatch(
    /^--- \/dev\/null\n\+\+\+ b\/a\.txt\n@@ -0,0 \+1,\d+ @@\n\+line 0\n/,
  );
  const [done] = turn.completed("fileChange");
  expect(updates.at(-1)?.changes).toEqual(done?.changes);
  expect(items.at(-1)).toMatchObject({ type: "item/completed", item: { status: "completed" } });
  expect(items.at(-1)).not.toHaveProperty("item.output");
  expect(turn.actions).toMatchObject([{ kind: "fileChange", itemId: done?.id, changes: done?.changes }]);
  expect(readFileSync(folder.join("a.txt"), "utf8")).toBe(content);
});

test("streams what an edit replaces, and a patch as it is [S0-58]", async () => {
  const edit = { path: "a", old_text: "one\n", new_text: "1\n" };
  expect((await played(written("edit_file", edit), { a: "one\ntwo\n" })).deltas).toBe("+++ b/a\n-one\n+1\n");
  const patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
  const patched = await played(written("apply_patch", { patch }), { a: "one\ntwo\n" });
  expect(patched.deltas).toBe(patch);
  expect(patched.turn.completed("fileChange")).toMatchObject([{ status: "completed" }]);
});

test.each([
  ["a path that is missing", written("write_file", { content: "one\n" }), "failed", /path/],
  [
    "text that does not occur",
    written("edit_file", { path: "a", old_text: "x", new_text: "y" }),
    "failed",
    /does not occur/,
  ],
  [
    "a file that has this content",
    written("write_file", { path: "a", content: "one\n" }),
    "completed",
    /already has/,
  ],
])("ends the item of a call that changes nothing: %s", async (_name, parts, status, output) => {
  const { turn, folder } = await played(parts, { a: "one\n" });
  expect(turn.completed("fileChange")).toMatchObject([{ status, output: expect.stringMatching(output) }]);
  expect(
    turn
      .completed("fileChange")[0]
      ?.changes.map(({ diff }) => diff)
      .join(""),
  ).toBe("");
  expect(turn.completed("toolCall")).toEqual([]);
  expect(readFileSync(folder.join("a"), "utf8")).toBe("one\n");
});

test("ends the item of a call that is not JSON as failed", async () => {
  const parts = written("write_file", { path: "a", content: "one" }).map(
    (part): ModelPart => (part.type === "tool-call" ? { ...part, input: {}, inputError: "Not JSON." } : part),
  );
  const { turn } = await played(parts);
  expect(turn.completed("fileChange")).toMatchObject([
    { status: "failed", changes: [], output: expect.stringContaining("Not JSON.") },
  ]);
});

test.each([
  ["is retried", { type: "retry", error: { message: "Broke off.", errorInfo: "Other" } } as const],
  ["is cut off", { type: "finish", reason: "length" } as const],
])("ends the item of a call whose response %s as failed", async (_name, end) => {
  const begun = written("write_file", { path: "a", content: "one\ntwo" }).slice(0, -2);
  const { turn } = await played([...begun, end, ...(end.type === "retry" ? textStep("Again.") : [])]);
  expect(turn.completed("fileChange")).toMatchObject([
    { status: "failed", changes: [], output: expect.stringContaining("broke off") },
  ]);
});

test("shows no other tool before its call is complete", async () => {
  const { items } = await played(written("read_file", { path: "a", content: "x" }), { a: "one\n" });
  expect(items).toEqual([]);
});
