import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Decision, FileUpdateChange, SandboxPolicy } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/recorded-turn.ts";
import { FileVersions } from "./file-versions.ts";
import { readFileTool } from "./read-file.ts";
import { editFileTool, writeFileTool } from "./write-tools.ts";

interface WriteOptions {
  readonly decide?: () => Decision["outcome"];
  readonly policy?: SandboxPolicy;
  readonly known?: FileVersions;
}

/** Lets the tool write in a folder; gives what came of it, what was asked and how the item ended. */
async function write(cwd: string, path: string, content: string, options: WriteOptions = {}) {
  const tool = writeFileTool(options.known ?? new FileVersions());
  const { policy } = options;
  const { outcome, turn } = await callTool(
    tool,
    { path, content },
    { path: cwd },
    {
      ...(options.decide === undefined ? {} : { decide: options.decide }),
      ...(policy === undefined ? {} : { settings: { sandboxPolicy: policy } }),
    },
  );
  return { outcome, asked: turn.actions, item: turn.completed("fileChange").at(-1) };
}

test("creates a file with its folders, changes an existing one, and does nothing for the same content", async () => {
  const folder = await temporaryFolder();
  const added = await write(folder.path, "deep/er/a.txt", "one\n");
  expect(added).toMatchObject({
    outcome: { result: { status: "done" } },
    item: { status: "completed", changes: [{ kind: "add", path: folder.join("deep", "er", "a.txt") }] },
  });
  const changed = await write(folder.path, folder.join("deep", "er", "a.txt"), "two\n");
  const changes: FileUpdateChange[] = [
    {
      path: folder.join("deep", "er", "a.txt"),
      kind: "modify",
      diff: "--- a/deep/er/a.txt\n+++ b/deep/er/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n",
    },
  ];
  expect(changed.asked).toEqual([{ kind: "fileChange", itemId: "item", changes }]);
  expect(readFileSync(folder.join("deep", "er", "a.txt"), "utf8")).toBe("two\n");
  expect((await write(folder.path, "deep/er/a.txt", "two\n")).asked).toEqual([]);
});

test("replaces a longer content completely", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "a long text\nof two lines\n");
  await write(folder.path, "a", "é\n");
  expect(readFileSync(folder.join("a"), "utf8")).toBe("é\n");
});

test("changes nothing if the change is declined", async () => {
  const folder = await temporaryFolder();
  const { item, outcome } = await write(folder.path, "b.txt", "x\n", { decide: () => "deny" });
  expect([item, outcome]).toMatchObject([{ status: "declined" }, { result: { status: "declined" } }]);
  expect(existsSync(folder.join("b.txt"))).toBe(false);
});

test("does not overwrite a file that changes during the approval", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(folder.join("a.txt"), "one\n");
  writeFileSync(outside.join("theirs"), "theirs\n");
  const meanwhile = (action: () => void) => ({
    decide: () => {
      action();
      return "allow" as const;
    },
  });
  const change = meanwhile(() => writeFileSync(folder.join("a.txt"), "theirs\n"));
  expect((await write(folder.path, "a.txt", "two\n", change)).item).toMatchObject({ status: "failed" });
  const make = meanwhile(() => writeFileSync(folder.join("b.txt"), "theirs\n"));
  expect((await write(folder.path, "b.txt", "two\n", make)).item).toMatchObject({ status: "failed" });
  const swap = meanwhile(() => symlinkSync(outside.join("theirs"), folder.join("c.txt")));
  expect((await write(folder.path, "c.txt", "two\n", swap)).item).toMatchObject({ status: "failed" });
  const texts = [folder.join("a.txt"), folder.join("b.txt"), outside.join("theirs")];
  expect(texts.map((file) => readFileSync(file, "utf8"))).toEqual(["theirs\n", "theirs\n", "theirs\n"]);
});

test("rejects files outside, behind links or with protected names without approval [P32]", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("target"), "theirs\n");
  symlinkSync(outside.path, folder.join("link"));
  symlinkSync(outside.join("target"), folder.join("target"));
  symlinkSync(outside.join("missing"), folder.join("dangling"));
  const refused = [
    ...[
      outside.join("x"),
      "../x",
      `${folder.path}-neighbour/x`,
      "a/../../x",
      "link/x",
      "link/new/x",
      "target",
      "dangling",
    ],
    ...[
      ".mcp.json",
      ".git/hooks/x",
      ".GIT/config",
      "sub/.Flint/x",
      "sub/.Claude/x",
      ".bashrc",
      "GIT~1/config",
      "opencode.json",
      "OpenCode.jsonc",
    ],
    ...[".g\u200cit/config", ".git /x", ".", "a\0b", "a\n+++ b/x"],
  ];
  for (const path of refused) {
    const { asked, item, outcome } = await write(folder.path, path, "x\n");
    expect({ path, asked, item, outcome }).toMatchObject({
      asked: [],
      item: { status: "failed", output: expect.stringMatching(/\.$/) },
      outcome: { result: { status: "failed" } },
    });
  }
  expect(readdirSync(outside.path)).toEqual(["target"]);
  expect(readFileSync(outside.join("target"), "utf8")).toBe("theirs\n");
  expect(readdirSync(folder.path).sort()).toEqual(["dangling", "link", "target"]);
});

test("does not write a file with other hard links", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("theirs"), "theirs\n");
  linkSync(outside.join("theirs"), folder.join("mine"));
  expect((await write(folder.path, "mine", "x\n")).item).toMatchObject({ status: "failed" });
  expect(readFileSync(outside.join("theirs"), "utf8")).toBe("theirs\n");
});

test("writes only where the sandbox policy allows it", async () => {
  const folder = await temporaryFolder();
  const listed = await temporaryFolder();
  const readOnly = await write(folder.path, "a", "x\n", { policy: { type: "readOnly" } });
  expect(readOnly.outcome).toMatchObject({ result: { text: expect.stringContaining("read-only") } });
  const policy = { type: "workspaceWrite" as const, writableRoots: [listed.path] };
  await write(folder.path, listed.join("a"), "x\n", { policy });
  expect([existsSync(folder.join("a")), existsSync(listed.join("a"))]).toEqual([false, true]);
  const free = await write(folder.path, listed.join("b"), "x\n", { policy: { type: "dangerFullAccess" } });
  expect(free.item).toMatchObject({ status: "failed" });
});

test("does not change a file that is not text", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("image"), Buffer.from([0xff, 0xfe, 0x00]));
  expect((await write(folder.path, "image", "x\n")).item).toMatchObject({ output: "image is not text." });
});

test("preserves line endings, the byte order mark and the mode of a file", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a.bat"), "\ufeffone\r\ntwo\r\n");
  chmodSync(folder.join("a.bat"), 0o755);
  await write(folder.path, "a.bat", "one\nthree\n");
  expect(readFileSync(folder.join("a.bat"), "utf8")).toBe("\ufeffone\r\nthree\r\n");
  expect(statSync(folder.join("a.bat")).mode & 0o777).toBe(0o755);
});

test("creates a file with the mode of its folder, regardless of the umask", async () => {
  const folder = await temporaryFolder();
  mkdirSync(folder.join("open"));
  chmodSync(folder.join("open"), 0o755);
  const before = process.umask(0o077);
  try {
    await write(folder.path, "open/new/a", "x\n");
    await write(folder.path, "b", "x\n");
  } finally {
    process.umask(before);
  }
  const modes = ["open/new", "open/new/a", "b"].map((path) => statSync(folder.join(path)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o644, 0o600]);
});

test("does not follow a folder that is replaced by a link during the approval [P32]", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  mkdirSync(folder.join("sub"));
  writeFileSync(folder.join("sub", "a"), "one\n");
  writeFileSync(outside.join("a"), "one\n");
  const decide = () => {
    renameSync(folder.join("sub"), folder.join("moved"));
    symlinkSync(outside.path, folder.join("sub"));
    return "allow" as const;
  };
  const changed = await write(folder.path, "sub/a", "two\n", { decide });
  expect(changed.item).toMatchObject({ status: "failed" });
  renameSync(folder.join("sub"), folder.join("link"));
  renameSync(folder.join("moved"), folder.join("sub"));
  const added = await write(folder.path, "sub/deep/b", "two\n", { decide });
  expect(added.item).toMatchObject({ status: "failed" });
  expect([readdirSync(outside.path), readFileSync(outside.join("a"), "utf8")]).toEqual([["a"], "one\n"]);
});

test("rejects a change of a file that differs from the version the model read", async () => {
  const folder = await temporaryFolder();
  const known = new FileVersions();
  await write(folder.path, "a", "mine\n", { known });
  await write(folder.path, "a", "mine too\n", { known });
  writeFileSync(folder.join("a"), "theirs\n");
  const refused = await write(folder.path, "a", "mine again\n", { known });
  expect(refused).toMatchObject({
    asked: [],
    item: { output: "a has changed since you last read it. Read it again before you change it." },
  });
  known.set(folder.join("a"), "theirs\n");
  expect((await write(folder.path, "a", "mine again\n", { known })).item).toMatchObject({
    status: "completed",
  });
});

test("names a file that cannot be written by its real path", async () => {
  const folder = await temporaryFolder();
  const name = `${"x".repeat(300)}.txt`;
  const refused = await write(folder.path, name, "a");
  expect(refused.item).toMatchObject({
    status: "failed",
    changes: [{ kind: "add" }],
    output: `${folder.join(name)}: name too long (ENAMETOOLONG).`,
  });
  const policy = { type: "readOnly" } as const;
  expect((await write(folder.path, "new.txt", "a", { policy })).item?.changes).toMatchObject([
    { kind: "add" },
  ]);
  writeFileSync(folder.join("old.txt"), "a");
  expect((await write(folder.path, "old.txt", "b", { policy })).item?.changes).toMatchObject([
    { kind: "modify" },
  ]);
});

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

test("preserves CRLF, the byte order mark and a missing final newline", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "\ufeffone\r\ntwo\r\nthree");
  await callTool(EDIT_FILE, { path: "a", old_text: "one\ntwo", new_text: "1\n2\n2.5" }, folder);
  expect(readFileSync(folder.join("a"), "utf8")).toBe("\ufeff1\r\n2\r\n2.5\r\nthree");
});

test("changes nothing if the text does not occur exactly once", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "x x\n");
  const before = statSync(folder.join("a")).mtimeMs;
  const resultOf = async (input: Record<string, unknown>) => {
    const { turn, text } = await callTool(EDIT_FILE, { path: "a", ...input }, folder);
    expect(turn.actions).toEqual([]);
    return text;
  };
  expect(await resultOf({ old_text: "y", new_text: "z" })).toMatch(/^old_text does not occur in a\./);
  expect(await resultOf({ old_text: "x", new_text: "z" })).toMatch(/^old_text occurs 2 times in a\./);
  expect(await resultOf({ old_text: "x", new_text: "x", replace_all: true })).toMatch(/are the same/);
  expect(await resultOf({ old_text: "", new_text: "z" })).toBe("edit_file: old_text must not be empty.");
  expect(await resultOf({ path: "b", old_text: "x", new_text: "z" })).toBe("b does not exist.");
  expect(statSync(folder.join("a")).mtimeMs).toBe(before);
  const all = await callTool(
    EDIT_FILE,
    { path: "a", old_text: "x", new_text: "y", replace_all: true },
    folder,
  );
  expect([all.status, readFileSync(folder.join("a"), "utf8")]).toEqual(["done", "y y\n"]);
});

test("rejects an edit of a file that changed since it was read", async () => {
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
