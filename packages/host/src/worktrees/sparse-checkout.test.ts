import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { mergeResult } from "./merge.ts";
import { commitWork, mergeOf, NAME, SANDBOX, setUpRepository } from "./testing/worktree-fixture.ts";
import { TurnCommits } from "./turn-commit.ts";

const confined = needs("bwrap", "git");
const HERE = [".git", "a.txt", "app"];

/** A repository of which only the folder app is checked out, beside the files at its top. */
async function setUp() {
  const setup = await setUpRepository();
  const { cwd, git } = setup;
  for (const name of ["app", "docs"]) {
    await mkdir(join(cwd, name));
    await writeFile(join(cwd, name, "file.txt"), `${name}\n`);
  }
  await git("add", ".");
  await git("commit", "-q", "-m", "folders");
  await git("sparse-checkout", "set", "app");
  return setup;
}

describe("a worktree of a sparse checkout", () => {
  confined("has the same files, and its commits keep all others", async () => {
    const setup = await setUp();
    const { worktrees, cwd, git } = setup;
    const worktree = await worktrees.prepare({ ...NAME, cwd });
    expect((await readdir(worktree.top)).toSorted()).toEqual(HERE);
    expect(await git("-C", worktree.top, "status", "--porcelain")).toBe("");
    await writeFile(join(worktree.top, "app/new.txt"), "new\n");
    const { made } = await commitWork(setup, "x\n");
    expect(await git("diff", "--name-status", worktree.base, made.commit)).toBe("A\tapp/new.txt\nA\tb.txt");
    expect(await git("-C", worktree.top, "status", "--porcelain")).toBe("");
    // The next round, in which a file outside of it is made.
    await mkdir(join(worktree.top, "docs"));
    await writeFile(join(worktree.top, "docs/more.txt"), "more\n");
    const commits = new TurnCommits(worktrees, SANDBOX);
    const parent = made.commit;
    const next = await commits.commit({ ...NAME, worktree, round: 2, fence: 2, parent, message: "round 2" });
    expect(await git("diff", "--name-status", parent, next.commit)).toBe("A\tdocs/more.txt");
  });

  confined(
    "is as sparse where the result is reviewed and merged, and the result has everything",
    async () => {
      const setup = await setUp();
      const { worktrees, cwd, git } = setup;
      const { worktree, made } = await commitWork(setup, "x\n");
      for (const _time of [1, 2]) {
        const folder = await worktrees.checkOut(NAME, "merge", worktree.repository, made.commit);
        expect((await readdir(folder)).toSorted()).toEqual([".git", "a.txt", "app", "b.txt"]);
      }
      const merged = await mergeResult(worktrees.git(cwd), mergeOf(worktree.base, made.commit));
      const commit = merged.kind === "merged" ? (merged.commit ?? "") : "";
      expect(await git("ls-tree", "-r", "--name-only", commit)).toBe(
        "a.txt\napp/file.txt\nb.txt\ndocs/file.txt",
      );
      expect((await readdir(join(worktree.top, ".."))).filter((name) => name.startsWith("sparse"))).toEqual(
        [],
      );
    },
  );
});
