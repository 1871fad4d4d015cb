import { readFileSync, statSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/call-tool.ts";
import { editFileTool } from "./edit-file.ts";
import { FileVersions } from "./file-versions.ts";
import { readFileTool } from "./read-file.ts";

const EDIT_FILE = editFileTool(new FileVersions());

test("replaces text after approval of the exact diff", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "one\ntwo\nthree");
  const { turn, text } = await callTool(EDIT_FILE, { path: "a", old_text: "two", new_text: "2" }, folder);
  expect(text).toBe("a was changed.");
  expect(readFileSync(folder.join("a"), "utf8")).toBe("one\n2\nthree");
  expect(turn.actions).toMatchObject([
    {
      kind: "fileChange",
      changes: [
        {
          kind: "modify",
          diff: "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file\n",
        },
      ],
    },
  ]);
});

test("treats replacement patterns as plain text", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "x");
  await callTool(EDIT_FILE, { path: "a", old_text: "x", new_text: "$& $1 \\n" }, folder);
  expect(readFileSync(folder.join("a"), "utf8")).toBe("$& $1 \\n");
});

test("keeps CRLF, the byte order mark and a missing final newline", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "\ufeffone\r\ntwo\r\nthree");
  await callTool(EDIT_FILE, { path: "a", old_text: "one\ntwo", new_text: "1\n2\n2.5" }, folder);
  expect(readFileSync(folder.join("a"), "utf8")).toBe("\ufeff1\r\n2\r\n2.5\r\nthree");
});

test("changes nothing if the text does not occur exactly once", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "x x\n");
  const before = statSync(folder.join("a")).mtimeMs;
  const told = async (input: Record<string, unknown>) => {
    const { turn, text } = await callTool(EDIT_FILE, { path: "a", ...input }, folder);
    expect(turn.actions).toEqual([]);
    return text;
  };
  expect(await told({ old_text: "y", new_text: "z" })).toMatch(/^old_text does not occur in a\./);
  expect(await told({ old_text: "x", new_text: "z" })).toMatch(/^old_text occurs 2 times in a\./);
  expect(await told({ old_text: "x", new_text: "x", replace_all: true })).toMatch(/are the same/);
  expect(await told({ old_text: "", new_text: "z" })).toBe("edit_file: old_text must not be empty.");
  expect(await told({ path: "b", old_text: "x", new_text: "z" })).toBe("b does not exist.");
  expect(statSync(folder.join("a")).mtimeMs).toBe(before);
  const all = await callTool(
    EDIT_FILE,
    { path: "a", old_text: "x", new_text: "y", replace_all: true },
    folder,
  );
  expect([all.status, readFileSync(folder.join("a"), "utf8")]).toEqual(["done", "y y\n"]);
});

test("requires reading a file again that changed since it was read", async () => {
  const folder = await temporaryFolder();
  const known = new FileVersions();
  const [read, edit] = [readFileTool(known), editFileTool(known)];
  const change = () => callTool(edit, { path: "a", old_text: "one", new_text: "two" }, folder);
  writeFileSync(folder.join("a"), "one\n");
  await callTool(read, { path: "a" }, folder);
  writeFileSync(folder.join("a"), "one and more\n");
  expect((await change()).text).toBe(
    "a has changed since you last read it. Read it again before you change it.",
  );
  await callTool(read, { path: "a" }, folder);
  expect((await change()).status).toBe("done");
});
