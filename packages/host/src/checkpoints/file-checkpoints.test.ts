import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
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
import { type Lease, Placeholders } from "../sandbox/paths/placeholders.ts";
import { FileCheckpoints } from "./file-checkpoints.ts";
import { Workbench, type WorkbenchOptions } from "./testing/fixture.ts";

/** A workspace with some of everything. */
async function filled(options?: WorkbenchOptions): Promise<Workbench> {
  const bench = await Workbench.make(temporaryFolder, options);
  const { workspace } = bench;
  writeFileSync(workspace.join("text.txt"), "one\n", { mode: 0o644 });
  writeFileSync(workspace.join("binary.bin"), Buffer.from([0, 255, 10, 13, 0, 128]));
  writeFileSync(workspace.join("run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  chmodSync(workspace.join("run.sh"), 0o755);
  mkdirSync(workspace.join("deep", "er"), { recursive: true });
  writeFileSync(workspace.join("deep", "er", "lost.txt"), "lost\n");
  mkdirSync(workspace.join("empty"));
  symlinkSync("text.txt", workspace.join("link"));
  return bench;
}

describe("a command that changes all kinds of things", () => {
  function havoc({ workspace }: Workbench): void {
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
    const bench = await filled();
    const before = bench.picture();
    const turnId = await bench.command(() => havoc(bench));
    const after = bench.picture();
    expect(after).not.toEqual(before);

    const preview = await bench.preview(turnId);
    expect(bench.picture()).toEqual(after);
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
    expect(preview.files.find(({ path }) => path === "binary.bin")).toEqual({
      ...{ path: "binary.bin", action: "restore", kind: "file", status: "planned" },
      ...{ sizeBefore: 3, sizeAfter: 6 },
    });
    expect([preview.conflicts, preview.notSaved]).toEqual([[], []]);

    const revertId = mintId();
    const restored = await bench.restore([turnId], revertId);
    expect(restored.files.every(({ status }) => status === "done")).toBe(true);
    expect(restored.conflicts).toEqual([]);
    expect(bench.picture()).toEqual(before);

    const undone = await bench.undo(revertId);
    expect(undone.conflicts).toEqual([]);
    expect(bench.picture()).toEqual(after);
  });

  test("is undone by a later process as well", async () => {
    const bench = await filled();
    const before = bench.picture();
    const turnId = await bench.command(() => havoc(bench));
    bench.restart();
    await bench.restore([turnId]);
    expect(bench.picture()).toEqual(before);
  });

  test("is undone also if the server was killed in the middle of the turn", async () => {
    const bench = await filled();
    const before = bench.picture();
    const turnId = mintId();
    const turn = await bench.begin(turnId);
    await turn.saveWorkspace(new AbortController().signal);
    havoc(bench);
    bench.restart();
    expect((await bench.restore([turnId])).conflicts).toEqual([]);
    expect(bench.picture()).toEqual(before);
  });
});

describe("an edit", () => {
  test("is saved without a look at the rest, and the folders that it made go with it", async () => {
    const bench = await filled();
    const before = bench.picture();
    const turnId = await bench.edit(["text.txt", "a/b/c.txt", "run.sh", "gone.sh"], () => {
      writeFileSync(bench.workspace.join("text.txt"), "two\n");
      mkdirSync(bench.workspace.join("a", "b"), { recursive: true });
      writeFileSync(bench.workspace.join("a", "b", "c.txt"), "c\n");
      renameSync(bench.workspace.join("run.sh"), bench.workspace.join("gone.sh"));
    });
    expect(bench.stored("workspaces")).toEqual([]);
    await bench.restore([turnId]);
    expect(bench.picture()).toEqual(before);
  });

  test("before a command in the same turn goes back to what was before the edit", async () => {
    const bench = await filled();
    const before = bench.picture();
    const turnId = mintId();
    const turn = await bench.begin(turnId);
    turn.saveFiles([bench.workspace.join("text.txt")]);
    writeFileSync(bench.workspace.join("text.txt"), "edited\n");
    await turn.saveWorkspace(new AbortController().signal);
    writeFileSync(bench.workspace.join("text.txt"), "formatted\n");
    turn.saveFiles(["text.txt"]);
    await turn.end();
    await bench.restore([turnId]);
    expect(bench.picture()).toEqual(before);
  });

  test("through a link is saved where the link leads, and never outside of the workspace", async () => {
    const bench = await filled();
    const outside = await Workbench.make(temporaryFolder);
    writeFileSync(outside.workspace.join("theirs.txt"), "theirs\n");
    symlinkSync("deep", bench.workspace.join("inside"));
    symlinkSync(outside.workspace.path, bench.workspace.join("outside"));
    const turnId = await bench.edit(["inside/er/lost.txt", "outside/theirs.txt", "../x"], () => {
      writeFileSync(bench.workspace.join("inside/er/lost.txt"), "found\n");
      writeFileSync(outside.workspace.join("theirs.txt"), "changed\n");
    });
    const { files, notSaved } = await bench.restore([turnId]);
    expect(files.map(({ path }) => path)).toEqual(["deep/er/lost.txt"]);
    expect(notSaved.map(({ reason }) => reason)).toEqual(["outside", "outside"]);
    expect(outside.picture()).toMatchObject({ "theirs.txt": expect.stringContaining("changed") });
  });

  test("of a file that steers version control, agents or shells is not saved and never put back", async () => {
    const bench = await filled();
    mkdirSync(bench.workspace.join(".git", "hooks"), { recursive: true });
    const turnId = await bench.edit([".git/hooks/post-commit", ".claude/settings.json"], () => {
      writeFileSync(bench.workspace.join(".git", "hooks", "post-commit"), "x");
    });
    const { files, notSaved } = await bench.restore([turnId]);
    expect(files).toEqual([]);
    expect(notSaved).toMatchObject([
      { path: ".git/hooks/post-commit", reason: "protected" },
      { path: ".claude/settings.json", reason: "protected" },
    ]);
    expect(readdirSync(bench.workspace.join(".git", "hooks"))).toEqual(["post-commit"]);
  });
});

test("placeholders of the sandbox are not reported as changes", async () => {
  const bench = await filled();
  mkdirSync(bench.workspace.join(".vscode"));
  const sandbox = new Placeholders();
  let hold: Lease | undefined;
  const turnId = await bench.command(async () => {
    hold = await sandbox.acquire(bench.workspace.path);
    expect(readdirSync(bench.workspace.path)).toContain(".git");
    writeFileSync(bench.workspace.join("text.txt"), "two\n");
  });
  const { files, notSaved } = await bench.restore([turnId]);
  await hold?.release();
  expect(files.map(({ path }) => path)).toEqual(["text.txt"]);
  // What was there before is told as ever.
  expect(notSaved.map(({ path }) => path)).toEqual([".vscode"]);
});

describe("what somebody else did", () => {
  test("after the turn is a conflict, and is left alone", async () => {
    const bench = await filled();
    const turnId = await bench.command(() => {
      for (const name of ["text.txt", "binary.bin"]) writeFileSync(bench.workspace.join(name), "agent\n");
      rmSync(bench.workspace.join("run.sh"));
      mkdirSync(bench.workspace.join("made"));
      writeFileSync(bench.workspace.join("made", "one"), "1");
    });
    writeFileSync(bench.workspace.join("text.txt"), "mine\n");
    writeFileSync(bench.workspace.join("run.sh"), "mine\n");
    writeFileSync(bench.workspace.join("made", "two"), "mine\n");
    const preview = await bench.preview(turnId);
    const restored = await bench.restore([turnId]);
    expect(restored.conflicts).toEqual(preview.conflicts);
    expect(restored.conflicts.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
      "made: notEmpty",
      "run.sh: changedSince",
      "text.txt: changedSince",
    ]);
    expect(restored.files.map(({ path }) => path).sort()).toEqual(["binary.bin", "made/one"]);
    expect(bench.picture()).toMatchObject({
      "text.txt": "644 mine\n",
      "run.sh": "644 mine\n",
      "made/two": "644 mine\n",
    });
  });

  test("between two turns is not lost when both are undone", async () => {
    const bench = await filled();
    const path = bench.workspace.join("text.txt");
    const first = await bench.edit(["text.txt"], () => writeFileSync(path, "first\n"));
    writeFileSync(path, "first and mine\n");
    const second = await bench.edit(["text.txt"], () => writeFileSync(path, "second\n"));
    const { conflicts, files } = await bench.restore([first, second]);
    expect([conflicts, files]).toMatchObject([[{ path: "text.txt", reason: "changedBetween" }], []]);
    expect((await bench.restore([second])).files).toMatchObject([{ path: "text.txt" }]);
    expect(bench.picture()).toMatchObject({ "text.txt": "644 first and mine\n" });
  });

  test("after a revert is not lost when the revert is undone", async () => {
    const bench = await filled();
    const path = bench.workspace.join("text.txt");
    const turnId = await bench.edit(["text.txt", "new.txt"], () => {
      writeFileSync(path, "agent\n");
      writeFileSync(bench.workspace.join("new.txt"), "new\n");
    });
    const revertId = mintId();
    await bench.restore([turnId], revertId);
    writeFileSync(path, "mine\n");
    const { conflicts, files } = await bench.undo(revertId);
    expect(conflicts).toMatchObject([{ path: "text.txt", reason: "changedSince" }]);
    expect(files).toMatchObject([{ path: "new.txt", action: "create" }]);
  });

  test("to the folders on the way, such as a link in their place, keeps everything out of there", async () => {
    const bench = await filled();
    const outside = await Workbench.make(temporaryFolder);
    mkdirSync(outside.workspace.join("er"));
    const turnId = await bench.command(() => rmSync(bench.workspace.join("deep", "er", "lost.txt")));
    rmSync(bench.workspace.join("deep"), { recursive: true });
    symlinkSync(outside.workspace.path, bench.workspace.join("deep"));
    const { conflicts } = await bench.restore([turnId]);
    expect(conflicts).toMatchObject([{ path: "deep/er/lost.txt", reason: "blocked" }]);
    expect(outside.picture()).toEqual({ "er/": "755" });
  });
});

describe("several turns", () => {
  test("are undone at once, to what was before the first", async () => {
    const bench = await filled();
    const before = bench.picture();
    const path = bench.workspace.join("text.txt");
    const first = await bench.command(() => {
      writeFileSync(path, "first\n");
      writeFileSync(bench.workspace.join("both"), "1");
    });
    const second = await bench.edit(["text.txt", "both"], () => {
      writeFileSync(path, "second\n");
      rmSync(bench.workspace.join("both"));
    });
    const { conflicts } = await bench.restore([first, second]);
    expect(conflicts).toEqual([]);
    expect(bench.picture()).toEqual(before);
  });

  test("can be undone one by one, back and forth, in any order that makes sense", async () => {
    const bench = await filled();
    const path = bench.workspace.join("text.txt");
    const ids: string[] = [];
    for (const word of ["a", "b", "c"])
      ids.push(await bench.edit(["text.txt"], () => writeFileSync(path, word)));
    const [first = "", second = "", third = ""] = ids;
    const revertId = mintId();
    await bench.restore([third], revertId);
    expect(bench.picture()).toMatchObject({ "text.txt": "644 b" });
    await bench.undo(revertId);
    expect(bench.picture()).toMatchObject({ "text.txt": "644 c" });
    await bench.restore([third]);
    await bench.restore([second]);
    expect(bench.picture()).toMatchObject({ "text.txt": "644 a" });
    const { conflicts } = await bench.restore([first]);
    expect(conflicts).toEqual([]);
    expect(bench.picture()).toMatchObject({ "text.txt": "644 one\n" });
  });
});

describe("what is not saved is reported", () => {
  test("ignored files, version control, large files and special ones", async () => {
    const bench = await filled({ limits: { file: 1_000 } });
    const { workspace } = bench;
    writeFileSync(workspace.join(".gitignore"), "dist/\n*.log\n!kept.log\n");
    for (const name of ["dist", "node_modules", ".git"]) mkdirSync(workspace.join(name));
    writeFileSync(workspace.join("dist", "out.js"), "1");
    writeFileSync(workspace.join("some.log"), "1");
    writeFileSync(workspace.join("same.log"), "1");
    writeFileSync(workspace.join("kept.log"), "1");
    writeFileSync(workspace.join("large"), "x".repeat(2_000));
    execFileSync("mkfifo", [workspace.join("pipe")]);
    const turnId = await bench.command(() => {
      for (const name of ["dist/out.js", "some.log", "kept.log"]) writeFileSync(workspace.join(name), "22");
      writeFileSync(workspace.join("large"), "y".repeat(2_001));
    });
    const { files, notSaved } = await bench.restore([turnId]);
    expect(files.map(({ path }) => path)).toEqual(["kept.log"]);
    expect(notSaved.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
      ".git: protected",
      "dist: ignored",
      "large: tooLarge",
      "node_modules: ignored",
      "some.log: ignored",
    ]);
  });

  test("beyond the limits nothing is taken for new, so nothing is deleted that was there before", async () => {
    const bench = await Workbench.make(temporaryFolder, { limits: { entries: 6 } });
    const { workspace } = bench;
    for (const folder of ["a", "b", "c"]) {
      mkdirSync(workspace.join(folder));
      for (const name of ["1", "2", "3"]) writeFileSync(workspace.join(folder, name), name);
    }
    const before = bench.picture();
    const turnId = await bench.command(() => {
      rmSync(workspace.join("a"), { recursive: true });
      writeFileSync(workspace.join("top"), "new");
    });
    const { notSaved } = await bench.restore([turnId]);
    expect(notSaved.some(({ reason }) => reason === "limit")).toBe(true);
    for (const path of Object.keys(before).filter((name) => !name.startsWith("a"))) {
      expect(bench.picture()[path]).toBe(before[path]);
    }
    expect(bench.picture()).not.toHaveProperty("top");
  });
});

test("names that are no text are saved and put back by their bytes", async () => {
  const bench = await filled();
  const odd = Buffer.concat([
    Buffer.from(`${bench.workspace.path}/b`),
    Buffer.of(0xff, 0xc3),
    Buffer.from("é"),
  ]);
  writeFileSync(odd, "odd\n");
  const before = bench.picture();
  const turnId = await bench.command(() => {
    unlinkSync(odd);
    rmSync(bench.workspace.join("text.txt"));
  });
  const { files } = await bench.restore([turnId]);
  expect(files.map(({ path }) => path).sort()).toEqual(["b\\xff\\xc3é", "text.txt"]);
  expect(bench.picture()).toEqual(before);
});

test("what is kept can be read by its owner only", async () => {
  const bench = await filled();
  const turnId = await bench.command(() => writeFileSync(bench.workspace.join("text.txt"), "two\n"));
  await bench.restore([turnId]);
  for (const entry of readdirSync(bench.state.path, { recursive: true, withFileTypes: true })) {
    const mode = statSync(`${entry.parentPath}/${entry.name}`).mode & 0o777;
    expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
  }
});

test("the state folder inside of a workspace is never looked into", async () => {
  const bench = await filled();
  const { workspace } = bench;
  const inner = new FileCheckpoints({ root: workspace.join("state") });
  mkdirSync(workspace.join("state"));
  const begin = { threadId: "t", turnId: "u", roots: [workspace.path], ephemeral: false, onError: () => {} };
  const turn = await inner.begin(begin);
  await turn.saveWorkspace(new AbortController().signal);
  await turn.end();
  const { notSaved } = await inner.preview({ threadId: "t", turnIds: ["u"], cwd: workspace.path });
  expect(notSaved).toMatchObject([{ path: "state", reason: "protected" }]);
});
