import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { fileChangesIn, plannedChanges } from "./file-changes.ts";

const header = (path: string) => `--- a/${path}\n+++ b/${path}\n`;

async function workspace(text: string) {
  const { path } = await temporaryFolder();
  const file = join(path, "a.txt");
  await writeFile(file, text);
  return { cwd: path, file_path: file };
}

test("shows the exact diff of an edit of the current file", async () => {
  const { cwd, file_path } = await workspace("one\ntwo $& two\n");
  const edit = { file_path, old_string: "two", new_string: "$& three" };
  const diff = `${header("a.txt")}@@ -1,2 +1,2 @@\n one\n-two $& two\n`;
  const first = await plannedChanges("Edit", edit, cwd);
  expect(first).toEqual([{ path: "a.txt", kind: "modify", diff: `${diff}+$& three $& two\n` }]);
  const all = await plannedChanges("Edit", { ...edit, replace_all: true }, cwd);
  expect(all?.[0]?.diff).toBe(`${diff}+$& three $& $& three\n`);
  const edits = [edit, { old_string: "one", new_string: "1" }];
  expect((await plannedChanges("MultiEdit", { file_path, edits }, cwd))?.[0]?.diff).toContain("-one\n");
});

test("shows a file that is replaced or created, inside or outside of the workspace", async () => {
  const { cwd, file_path } = await workspace("old\n");
  const rewritten = await plannedChanges("Write", { file_path, content: "new\n" }, cwd);
  expect(rewritten).toEqual([
    { path: "a.txt", kind: "modify", diff: `${header("a.txt")}@@ -1,1 +1,1 @@\n-old\n+new\n` },
  ]);
  const outside = await plannedChanges("Write", { file_path, content: "new\n" }, join(cwd, "inner"));
  expect(outside?.[0]?.path).toBe(file_path);
  const made = await plannedChanges("Write", { file_path: "b.txt", content: "x" }, cwd);
  expect(made?.[0]).toMatchObject({ path: "b.txt", kind: "add" });
});

test("does not guess a change that is not known in advance", async () => {
  const { cwd, file_path } = await workspace("one\n");
  const link = join(cwd, "null");
  await symlink("/dev/null", link);
  const tries = [
    plannedChanges("Edit", { file_path, old_string: "two", new_string: "x" }, cwd),
    plannedChanges("Edit", { file_path, old_string: 2, new_string: "x" }, cwd),
    plannedChanges("Write", { file_path: link, content: "x" }, cwd),
    plannedChanges("Write", { file_path: cwd, content: "x" }, cwd),
    plannedChanges("Write", { content: "x" }, cwd),
    plannedChanges("NotebookEdit", { notebook_path: file_path, new_source: "x" }, cwd),
  ];
  expect(await Promise.all(tries)).toEqual(tries.map(() => undefined));
});

test("replaces or deletes a notebook cell as Claude's tool does", async () => {
  const { cwd, file_path: notebook_path } = await workspace("");
  const cell = (id: string, source: string) => ({
    cell_type: "code",
    id,
    source,
    outputs: [1],
    execution_count: 3,
  });
  await writeFile(
    notebook_path,
    JSON.stringify({ cells: [cell("a", "1"), cell("b", "2")], nbformat: 4 }, undefined, 1),
  );
  const replace = { notebook_path, cell_id: "b", new_source: "3" };
  const changed = await plannedChanges("NotebookEdit", replace, cwd);
  expect(changed?.[0]?.diff).toMatch(/-\s+"source": "2",.*\+\s+"source": "3",/s);
  const removed = await plannedChanges(
    "NotebookEdit",
    { ...replace, cell_id: "cell-0", edit_mode: "delete" },
    cwd,
  );
  expect(removed?.[0]?.diff).toMatch(/-\s+"id": "a"/);
  expect(await plannedChanges("NotebookEdit", { ...replace, edit_mode: "insert" }, cwd)).toBeUndefined();
  expect(await readFile(notebook_path, "utf8")).toContain('"source": "2"');
});

test("shows an applied change from the original to the current file", async () => {
  const { cwd, file_path } = await workspace("new\n");
  const use = {
    itemId: "i",
    name: "Edit",
    input: { file_path },
    item: undefined,
    isDone: false,
    isDeclined: false,
  };
  const content = [{ type: "tool_result", tool_use_id: "t", content: "done" }];
  const frame = { type: "user", message: { content }, tool_use_result: { originalFile: "old\n" } } as const;
  const changes = await fileChangesIn({ ...frame, message: { content } }, new Map([["t", use]]), cwd);
  const diff = `${header("a.txt")}@@ -1,1 +1,1 @@\n-old\n+new\n`;
  expect(changes).toEqual(new Map([["t", [{ path: "a.txt", kind: "modify", diff }]]]));
});
