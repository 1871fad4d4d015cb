import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool, type TurnOptions } from "../../testing/recorded-turn.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { FileVersions } from "./file-versions.ts";

const apply = (
  folder: TemporaryFolder,
  patch: string,
  options: TurnOptions = {},
  known = new FileVersions(),
) => callTool(applyPatchTool(known), { patch }, folder, options);

const change = (path: string, from: string, to: string) =>
  `--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,1 @@\n-${from}\n+${to}\n`;

async function project(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  mkdirSync(folder.join("src"));
  writeFileSync(folder.join("src", "a"), "one\n");
  writeFileSync(folder.join("b"), "old\n");
  writeFileSync(folder.join("tool.sh"), "#!/bin/sh\necho 1\n");
  chmodSync(folder.join("tool.sh"), 0o755);
  return folder;
}

const SEVERAL = `${change("src/a", "one", "two")}--- a/b
+++ /dev/null
@@ -1 +0,0 @@
-old
--- /dev/null
+++ b/new/c
@@ -0,0 +1,2 @@
+first
+second
diff --git a/tool.sh b/bin/tool.sh
similarity index 90%
rename from tool.sh
rename to bin/tool.sh
--- a/tool.sh
+++ b/bin/tool.sh
@@ -1,2 +1,2 @@
 #!/bin/sh
-echo 1
+echo 2
`;

test("changes, adds, deletes and moves files together after one approval of the exact diff", async () => {
  const folder = await project();
  const { turn, text } = await apply(folder, SEVERAL);
  expect(text).toBe(
    "src/a was changed.\nb was deleted.\nnew/c was added.\ntool.sh was moved to bin/tool.sh.",
  );
  expect(readFileSync(folder.join("src", "a"), "utf8")).toBe("two\n");
  expect(readFileSync(folder.join("new", "c"), "utf8")).toBe("first\nsecond\n");
  expect(readFileSync(folder.join("bin", "tool.sh"), "utf8")).toBe("#!/bin/sh\necho 2\n");
  expect(statSync(folder.join("bin", "tool.sh")).mode & 0o777).toBe(0o755);
  expect(readdirSync(folder.path).sort()).toEqual(["bin", "new", "src"]);
  const [action] = turn.actions;
  expect(turn.actions).toHaveLength(1);
  expect(action).toMatchObject({
    kind: "fileChange",
    changes: [
      { kind: "modify", path: folder.join("src", "a"), diff: change("src/a", "one", "two") },
      { kind: "delete", path: folder.join("b"), diff: "--- a/b\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old\n" },
      { kind: "add", path: folder.join("new", "c") },
      { kind: "modify", path: folder.join("tool.sh"), movePath: folder.join("bin", "tool.sh") },
    ],
  });
});

test("changes nothing if the patch is declined", async () => {
  const folder = await project();
  expect((await apply(folder, SEVERAL, { decide: () => "deny" })).status).toBe("declined");
  expect(readdirSync(folder.path).sort()).toEqual(["b", "src", "tool.sh"]);
});

test("asks for nothing if one file cannot be changed", async () => {
  const folder = await project();
  const outside = await temporaryFolder();
  symlinkSync(outside.path, folder.join("link"));
  const refused = {
    "a hunk that does not fit": change("b", "other", "new"),
    "a file that is not there": change("missing", "old", "new"),
    "a file that is there already": "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n",
    "a place outside": "--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n",
    "an absolute place outside": `--- /dev/null\n+++ ${outside.path}/x\n@@ -0,0 +1 @@\n+x\n`,
    "a place behind a link": "--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n",
    "a protected name": "--- /dev/null\n+++ b/.Git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n",
    "a move to a protected name":
      "diff --git a/b b/.mcp.json\nsimilarity index 100%\nrename from b\nrename to .mcp.json\n",
    "a move onto a file":
      "diff --git a/b b/tool.sh\nsimilarity index 100%\nrename from b\nrename to tool.sh\n",
    "two parts for one file": `${change("src/a", "one", "x")}${change("src/a", "one", "y")}`,
    "half a deletion": "--- a/tool.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-#!/bin/sh\n",
  };
  for (const [what, patch] of Object.entries(refused)) {
    const { turn, status } = await apply(folder, change("src/a", "one", "two") + patch);
    expect({ what, status, asked: turn.actions }).toEqual({ what, status: "failed", asked: [] });
    expect(turn.completed("fileChange")).toMatchObject([{ status: "failed" }]);
  }
  expect(readFileSync(folder.join("src", "a"), "utf8")).toBe("one\n");
  expect(readdirSync(outside.path)).toEqual([]);
});

test("rejects what is not a unified diff", async () => {
  const folder = await project();
  const resultOf = async (patch: string) => (await apply(folder, patch)).text;
  expect(await resultOf("garbage")).toMatch(/^This is not a unified diff\./);
  expect(await resultOf("*** Begin Patch\n*** Update File: b\n@@\n-old\n+new\n*** End Patch")).toMatch(
    /^This is not/,
  );
  expect(await resultOf("--- a/b\n+++ b/b\n@@ -1,5 +1,1 @@\n-old\n+new\n")).toMatch(
    /^The patch cannot be read/,
  );
});

test("restores everything if writing fails half way", async () => {
  const folder = await project();
  // The folder for the moved file is a file by then, so the last change fails after three were made.
  const decide = () => {
    writeFileSync(folder.join("bin"), "in the way\n");
    return "allow" as const;
  };
  const { turn, status, text } = await apply(folder, SEVERAL, { decide });
  expect([status, text]).toEqual(["failed", expect.stringContaining("bin is not a folder")]);
  expect(turn.completed("fileChange")).toMatchObject([{ status: "failed", output: text }]);
  expect(readFileSync(folder.join("src", "a"), "utf8")).toBe("one\n");
  expect(readFileSync(folder.join("b"), "utf8")).toBe("old\n");
  expect(readdirSync(folder.path).sort()).toEqual(["b", "bin", "src", "tool.sh"]);
});

test("changes nothing if one of the files changes during the approval", async () => {
  const folder = await project();
  const decide = () => {
    writeFileSync(folder.join("b"), "theirs\n");
    return "allow" as const;
  };
  const { text } = await apply(folder, SEVERAL, { decide });
  expect(text).toContain("b was changed by another program in the meantime");
  expect(readFileSync(folder.join("b"), "utf8")).toBe("theirs\n");
  expect(readFileSync(folder.join("src", "a"), "utf8")).toBe("one\n");
});

test("rejects a patch of a file that changed since the model read it", async () => {
  const folder = await project();
  const known = new FileVersions();
  known.set(folder.join("b"), "older\n");
  expect((await apply(folder, change("b", "old", "new"), {}, known)).text).toMatch(/Read it again/);
});

test("preserves line endings, the byte order mark and a missing final newline", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "\ufeffone\r\ntwo\r\nthree");
  const patch = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
  expect((await apply(folder, patch)).status).toBe("done");
  expect(readFileSync(folder.join("a"), "utf8")).toBe("\ufeffone\r\n2\r\nthree");
});
