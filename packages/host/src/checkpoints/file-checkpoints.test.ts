import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { mintId } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type PlaceholderLease, Placeholders } from "../sandbox/paths/placeholders.ts";
import { FileCheckpoints } from "./file-checkpoints.ts";
import { CheckpointFixture, type CheckpointFixtureOptions } from "./testing/fixture.ts";

/** A workspace with all kinds of entries. */
async function filled(options?: CheckpointFixtureOptions): Promise<CheckpointFixture> {
  const fixture = await CheckpointFixture.make(temporaryFolder, options);
  const { workspace } = fixture;
  writeFileSync(workspace.join("text.txt"), "one\n", { mode: 0o644 });
  writeFileSync(workspace.join("binary.bin"), Buffer.from([0, 255, 10, 13, 0, 128]));
  writeFileSync(workspace.join("run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  chmodSync(workspace.join("run.sh"), 0o755);
  mkdirSync(workspace.join("deep", "er"), { recursive: true });
  writeFileSync(workspace.join("deep", "er", "lost.txt"), "lost\n");
  mkdirSync(workspace.join("empty"));
  symlinkSync("text.txt", workspace.join("link"));
  return fixture;
}

describe("a command that changes all kinds of files", () => {
  function havoc({ workspace }: CheckpointFixture): void {
    writeFileSync(workspace.join("text.txt"), "two\n");
    writeFileSync(workspace.join("binary.bin"), Buffer.from([1, 2, 3]));
    chmodSync(workspace.join("run.sh"), 0o600);
    rmSync(workspace.join("deep"), { recursive: true });
    rmSync(workspace.join("empty"), { recursive: true });
    rmSync(workspace.join("link"));
    symlinkSync("/etc/passwd", workspace.join("link"));
    renameSync(workspace.join("run.sh"), workspace.join("moved.sh"));
    mkdirSync(workspace.join("new", "folder"), { recursive: true });
    writeFileSync(workspace.join("new", "folder", "file"), "new\n");
  }

  test("is undone exactly, with modes, links, binary content and empty folders", async () => {
    const fixture = await filled();
    const before = fixture.contents();
    const turnId = await fixture.command(() => havoc(fixture));
    const after = fixture.contents();
    expect(after).not.toEqual(before);

    const preview = await fixture.preview(turnId);
    expect(fixture.contents()).toEqual(after);
    expect(preview.files.map(({ action, path }) => `${action} ${path}`).sort()).toEqual([
      "create deep",
      "create deep/er",
      "create deep/er/lost.txt",
      "create empty",
      "create run.sh",
      "delete moved.sh",
      "delete new",
      "delete new/folder",
      "delete new/folder/file",
      "restore binary.bin",
      "restore link",
      "restore text.txt",
    ]);
    expect(preview.files.find(({ path }) => path === "new/folder/file")).toMatchObject({
      diff: "--- a/new/folder/file\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-new\n",
    });
    expect(preview.files.find(({ path }) => path === "binary.bin")).toEqual({
      ...{ path: "binary.bin", action: "restore", kind: "file", status: "planned" },
      ...{ sizeBefore: 3, sizeAfter: 6 },
    });
    expect([preview.conflicts, preview.notSaved]).toEqual([[], []]);

    const revertId = mintId();
    const restored = await fixture.restore([turnId], revertId);
    expect(restored.files.every(({ status }) => status === "done")).toBe(true);
    expect(restored.conflicts).toEqual([]);
    expect(fixture.contents()).toEqual(before);

    const undone = await fixture.undo(revertId);
    expect(undone.conflicts).toEqual([]);
    expect(fixture.contents()).toEqual(after);
  });

  test("is undone by a later process", async () => {
    const fixture = await filled();
    const before = fixture.contents();
    const turnId = await fixture.command(() => havoc(fixture));
    fixture.restart();
    await fixture.restore([turnId]);
    expect(fixture.contents()).toEqual(before);
  });

  test("is undone even if the server was killed during the turn", async () => {
    const fixture = await filled();
    const before = fixture.contents();
    const turnId = mintId();
    const turn = await fixture.begin(turnId);
    await turn.saveWorkspace(new AbortController().signal);
    havoc(fixture);
    fixture.restart();
    expect((await fixture.restore([turnId])).conflicts).toEqual([]);
    expect(fixture.contents()).toEqual(before);
  });

  test("has a journal that other versions of Flint can read", async () => {
    const fixture = await filled();
    const turn = await fixture.begin();
    await turn.saveWorkspace(new AbortController().signal);
    const [journal = ""] = fixture
      .stored(`threads/${fixture.threadId}`)
      .filter((name) => name.endsWith(".journal"));
    const text = readFileSync(fixture.state.join("checkpoints/threads", fixture.threadId, journal), "utf8");
    const lines = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual([
      { roots: [fixture.workspace.path] },
      { look: { base: expect.any(String), differences: [] } },
    ]);
    await turn.end();
  });
});

describe("an edit", () => {
  test("is saved without a scan of the workspace, and folders it created are removed with it", async () => {
    const fixture = await filled();
    const before = fixture.contents();
    const turnId = await fixture.edit(["text.txt", "a/b/c.txt", "run.sh", "gone.sh"], () => {
      writeFileSync(fixture.workspace.join("text.txt"), "two\n");
      mkdirSync(fixture.workspace.join("a", "b"), { recursive: true });
      writeFileSync(fixture.workspace.join("a", "b", "c.txt"), "c\n");
      renameSync(fixture.workspace.join("run.sh"), fixture.workspace.join("gone.sh"));
    });
    expect(fixture.stored("workspaces")).toEqual([]);
    await fixture.restore([turnId]);
    expect(fixture.contents()).toEqual(before);
  });

  test("before a command in the same turn is undone to before the edit", async () => {
    const fixture = await filled();
    const before = fixture.contents();
    const turnId = mintId();
    const turn = await fixture.begin(turnId);
    turn.saveFiles([fixture.workspace.join("text.txt")]);
    writeFileSync(fixture.workspace.join("text.txt"), "edited\n");
    await turn.saveWorkspace(new AbortController().signal);
    writeFileSync(fixture.workspace.join("text.txt"), "formatted\n");
    turn.saveFiles(["text.txt"]);
    await turn.end();
    await fixture.restore([turnId]);
    expect(fixture.contents()).toEqual(before);
  });

  test("through a link is saved at its target, and never outside of the workspace", async () => {
    const fixture = await filled();
    const outside = await CheckpointFixture.make(temporaryFolder);
    writeFileSync(outside.workspace.join("theirs.txt"), "theirs\n");
    symlinkSync("deep", fixture.workspace.join("inside"));
    symlinkSync(outside.workspace.path, fixture.workspace.join("outside"));
    const turnId = await fixture.edit(["inside/er/lost.txt", "outside/theirs.txt", "../x"], () => {
      writeFileSync(fixture.workspace.join("inside/er/lost.txt"), "found\n");
      writeFileSync(outside.workspace.join("theirs.txt"), "changed\n");
    });
    const { files, notSaved } = await fixture.restore([turnId]);
    expect(files.map(({ path }) => path)).toEqual(["deep/er/lost.txt"]);
    expect(notSaved.map(({ reason }) => reason)).toEqual(["outside", "outside"]);
    expect(outside.contents()).toMatchObject({ "theirs.txt": expect.stringContaining("changed") });
  });

  test("of a file that configures version control, agents or shells is neither saved nor restored", async () => {
    const fixture = await filled();
    mkdirSync(fixture.workspace.join(".git", "hooks"), { recursive: true });
    const turnId = await fixture.edit([".git/hooks/post-commit", ".claude/settings.json"], () => {
      writeFileSync(fixture.workspace.join(".git", "hooks", "post-commit"), "x");
    });
    const { files, notSaved } = await fixture.restore([turnId]);
    expect(files).toEqual([]);
    expect(notSaved).toMatchObject([
      { path: ".git/hooks/post-commit", reason: "protected" },
      { path: ".claude/settings.json", reason: "protected" },
    ]);
    expect(readdirSync(fixture.workspace.join(".git", "hooks"))).toEqual(["post-commit"]);
  });
});

test("does not report placeholders of the sandbox as changes", async () => {
  const fixture = await filled();
  mkdirSync(fixture.workspace.join(".vscode"));
  const sandbox = new Placeholders();
  let hold: PlaceholderLease | undefined;
  const turnId = await fixture.command(async () => {
    hold = await sandbox.acquire(fixture.workspace.path);
    expect(readdirSync(fixture.workspace.path)).toContain(".git");
    writeFileSync(fixture.workspace.join("text.txt"), "two\n");
  });
  const { files, notSaved } = await fixture.restore([turnId]);
  await hold?.release();
  expect(files.map(({ path }) => path)).toEqual(["text.txt"]);
  // Entries that were there before are reported as usual.
  expect(notSaved.map(({ path }) => path)).toEqual([".vscode"]);
});

describe("a change by something else", () => {
  test("after the turn is a conflict and is left alone", async () => {
    const fixture = await filled();
    const turnId = await fixture.command(() => {
      for (const name of ["text.txt", "binary.bin"]) writeFileSync(fixture.workspace.join(name), "agent\n");
      rmSync(fixture.workspace.join("run.sh"));
      mkdirSync(fixture.workspace.join("made"));
      writeFileSync(fixture.workspace.join("made", "one"), "1");
    });
    writeFileSync(fixture.workspace.join("text.txt"), "mine\n");
    writeFileSync(fixture.workspace.join("run.sh"), "mine\n");
    writeFileSync(fixture.workspace.join("made", "two"), "mine\n");
    const preview = await fixture.preview(turnId);
    const restored = await fixture.restore([turnId]);
    expect(restored.conflicts).toEqual(preview.conflicts);
    expect(restored.conflicts.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
      "made: notEmpty",
      "run.sh: changedSince",
      "text.txt: changedSince",
    ]);
    expect(restored.files.map(({ path }) => path).sort()).toEqual(["binary.bin", "made/one"]);
    expect(fixture.contents()).toMatchObject({
      "text.txt": "644 mine\n",
      "run.sh": "644 mine\n",
      "made/two": "644 mine\n",
    });
  });

  test("between two turns is not lost when both are undone", async () => {
    const fixture = await filled();
    const path = fixture.workspace.join("text.txt");
    const first = await fixture.edit(["text.txt"], () => writeFileSync(path, "first\n"));
    writeFileSync(path, "first and mine\n");
    const second = await fixture.edit(["text.txt"], () => writeFileSync(path, "second\n"));
    const { conflicts, files } = await fixture.restore([first, second]);
    expect([conflicts, files]).toMatchObject([[{ path: "text.txt", reason: "changedBetween" }], []]);
    expect((await fixture.restore([second])).files).toMatchObject([{ path: "text.txt" }]);
    expect(fixture.contents()).toMatchObject({ "text.txt": "644 first and mine\n" });
  });

  test("after a revert is not lost when the revert is undone", async () => {
    const fixture = await filled();
    const path = fixture.workspace.join("text.txt");
    const turnId = await fixture.edit(["text.txt", "new.txt"], () => {
      writeFileSync(path, "agent\n");
      writeFileSync(fixture.workspace.join("new.txt"), "new\n");
    });
    const revertId = mintId();
    await fixture.restore([turnId], revertId);
    writeFileSync(path, "mine\n");
    const { conflicts, files } = await fixture.undo(revertId);
    expect(conflicts).toMatchObject([{ path: "text.txt", reason: "changedSince" }]);
    expect(files).toMatchObject([{ path: "new.txt", action: "create" }]);
  });

  test("of a parent folder, such as a link that replaced it, blocks the restore there", async () => {
    const fixture = await filled();
    const outside = await CheckpointFixture.make(temporaryFolder);
    mkdirSync(outside.workspace.join("er"));
    const turnId = await fixture.command(() => rmSync(fixture.workspace.join("deep", "er", "lost.txt")));
    rmSync(fixture.workspace.join("deep"), { recursive: true });
    symlinkSync(outside.workspace.path, fixture.workspace.join("deep"));
    const { conflicts } = await fixture.restore([turnId]);
    expect(conflicts).toMatchObject([{ path: "deep/er/lost.txt", reason: "blocked" }]);
    expect(outside.contents()).toEqual({ "er/": "755" });
  });
});

describe("several turns", () => {
  test("are undone together, to before the first", async () => {
    const fixture = await filled();
    const before = fixture.contents();
    const path = fixture.workspace.join("text.txt");
    const first = await fixture.command(() => {
      writeFileSync(path, "first\n");
      writeFileSync(fixture.workspace.join("both"), "1");
    });
    const second = await fixture.edit(["text.txt", "both"], () => {
      writeFileSync(path, "second\n");
      rmSync(fixture.workspace.join("both"));
    });
    const { conflicts } = await fixture.restore([first, second]);
    expect(conflicts).toEqual([]);
    expect(fixture.contents()).toEqual(before);
  });

  test("can be reverted and restored one by one, in any valid order", async () => {
    const fixture = await filled();
    const path = fixture.workspace.join("text.txt");
    const ids: string[] = [];
    for (const word of ["a", "b", "c"])
      ids.push(await fixture.edit(["text.txt"], () => writeFileSync(path, word)));
    const [first = "", second = "", third = ""] = ids;
    const revertId = mintId();
    await fixture.restore([third], revertId);
    expect(fixture.contents()).toMatchObject({ "text.txt": "644 b" });
    await fixture.undo(revertId);
    expect(fixture.contents()).toMatchObject({ "text.txt": "644 c" });
    await fixture.restore([third]);
    await fixture.restore([second]);
    expect(fixture.contents()).toMatchObject({ "text.txt": "644 a" });
    const { conflicts } = await fixture.restore([first]);
    expect(conflicts).toEqual([]);
    expect(fixture.contents()).toMatchObject({ "text.txt": "644 one\n" });
  });
});

describe("reports what is not saved", () => {
  test("ignored files, version control, large files and special files", async () => {
    const fixture = await filled({ limits: { file: 1_000 } });
    const { workspace } = fixture;
    writeFileSync(workspace.join(".gitignore"), "dist/\n*.log\n!kept.log\n");
    for (const name of ["dist", "node_modules", ".git"]) mkdirSync(workspace.join(name));
    writeFileSync(workspace.join("dist", "out.js"), "1");
    writeFileSync(workspace.join("some.log"), "1");
    writeFileSync(workspace.join("same.log"), "1");
    writeFileSync(workspace.join("kept.log"), "1");
    writeFileSync(workspace.join("large"), "x".repeat(2_000));
    execFileSync("mkfifo", [workspace.join("pipe")]);
    const turnId = await fixture.command(() => {
      for (const name of ["dist/out.js", "some.log", "kept.log"]) writeFileSync(workspace.join(name), "22");
      writeFileSync(workspace.join("large"), "y".repeat(2_001));
    });
    const { files, notSaved } = await fixture.restore([turnId]);
    expect(files.map(({ path }) => path)).toEqual(["kept.log"]);
    expect(notSaved.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
      ".git: protected",
      "dist: ignored",
      "large: tooLarge",
      "node_modules: ignored",
      "some.log: ignored",
    ]);
  });

  test("files beyond the limits, which are not mistaken for new ones and deleted", async () => {
    const fixture = await CheckpointFixture.make(temporaryFolder, { limits: { entries: 6 } });
    const { workspace } = fixture;
    for (const folder of ["a", "b", "c"]) {
      mkdirSync(workspace.join(folder));
      for (const name of ["1", "2", "3"]) writeFileSync(workspace.join(folder, name), name);
    }
    const before = fixture.contents();
    const turnId = await fixture.command(() => {
      rmSync(workspace.join("a"), { recursive: true });
      writeFileSync(workspace.join("top"), "new");
    });
    const { notSaved } = await fixture.restore([turnId]);
    expect(notSaved.some(({ reason }) => reason === "limit")).toBe(true);
    for (const path of Object.keys(before).filter((name) => !name.startsWith("a"))) {
      expect(fixture.contents()[path]).toBe(before[path]);
    }
    expect(fixture.contents()).not.toHaveProperty("top");
  });
});

test("saves and restores names that are not UTF-8 by their bytes", async () => {
  const fixture = await filled();
  const odd = Buffer.concat([
    Buffer.from(`${fixture.workspace.path}/b`),
    Buffer.of(0xff, 0xc3),
    Buffer.from("é"),
  ]);
  writeFileSync(odd, "odd\n");
  const before = fixture.contents();
  const turnId = await fixture.command(() => {
    unlinkSync(odd);
    rmSync(fixture.workspace.join("text.txt"));
  });
  const { files } = await fixture.restore([turnId]);
  expect(files.map(({ path }) => path).sort()).toEqual(["b\\xff\\xc3é", "text.txt"]);
  expect(fixture.contents()).toEqual(before);
});

test("stores files that only their owner can read", async () => {
  const fixture = await filled();
  const turnId = await fixture.command(() => writeFileSync(fixture.workspace.join("text.txt"), "two\n"));
  await fixture.restore([turnId]);
  for (const entry of readdirSync(fixture.state.path, { recursive: true, withFileTypes: true })) {
    const mode = statSync(`${entry.parentPath}/${entry.name}`).mode & 0o777;
    expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
  }
});

test("never scans a state folder inside of a workspace", async () => {
  const fixture = await filled();
  const { workspace } = fixture;
  const inner = new FileCheckpoints({ root: workspace.join("state") });
  mkdirSync(workspace.join("state"));
  const begin = { threadId: "t", turnId: "u", roots: [workspace.path], ephemeral: false, onError: () => {} };
  const turn = await inner.begin(begin);
  await turn.saveWorkspace(new AbortController().signal);
  await turn.end();
  const { notSaved } = await inner.preview({ threadId: "t", turnIds: ["u"], cwd: workspace.path });
  expect(notSaved).toMatchObject([{ path: "state", reason: "protected" }]);
});
