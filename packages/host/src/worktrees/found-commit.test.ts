import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { commitWork, NAME, SANDBOX, setUpRepository, TRUSTED } from "./testing/worktree-fixture.ts";
import { TurnCommits } from "./turn-commit.ts";
import { Worktrees } from "./worktrees.ts";

const confined = needs("bwrap", "git");
const run = promisify(execFile);

/**
 * Returns the commit of the first round that another machine finds, in its own clone or in the same
 * repository.
 */
async function findIn(worktrees: Worktrees, cwd: string, parent: string, more: object = {}) {
  const commits = new TurnCommits(worktrees, SANDBOX);
  const repository = await worktrees.repository(cwd);
  return commits.find(repository, { ...NAME, round: 1, fence: 1, parent, ...more });
}

describe("the commit of a run that was lost", () => {
  confined("is found under its round and fence, and under no other", async () => {
    const { worktrees, cwd } = await setUpRepository();
    const { worktree, made } = await commitWork({ worktrees, cwd }, "x\n");
    expect(await findIn(worktrees, cwd, worktree.base)).toEqual(made);
    expect(await findIn(worktrees, cwd, worktree.base, { fence: 2 })).toBeUndefined();
    expect(await findIn(worktrees, cwd, worktree.base, { round: 2 })).toBeUndefined();
  });

  confined("does not count if it does not continue what was accepted, or changes nothing of it", async () => {
    const { worktrees, cwd, git } = await setUpRepository();
    const { made } = await commitWork({ worktrees, cwd }, "x\n");
    await git("commit", "-q", "--allow-empty", "-m", "elsewhere");
    expect(await findIn(worktrees, cwd, await git("rev-parse", "HEAD"))).toBeUndefined();
    expect(await findIn(worktrees, cwd, made.commit)).toBeUndefined();
  });

  confined("is fetched from the remote into another clone", async () => {
    const { home, worktrees, cwd, git } = await setUpRepository();
    const [bare, clone] = [home.join("bare.git"), home.join("clone")];
    await run("git", ["clone", "-q", "--bare", cwd, bare]);
    await run("git", ["clone", "-q", `file://${bare}`, clone]);
    const { worktree, made } = await commitWork({ worktrees, cwd }, "x\n");
    const others = new Worktrees(home.join("others"), process.env, SANDBOX, TRUSTED);
    expect(await findIn(others, clone, worktree.base, { url: bare })).toBeUndefined();
    await git("push", "-q", bare, "refs/flint/*:refs/flint/*");
    expect(await findIn(others, clone, worktree.base, { url: bare })).toEqual(made);
    await expect(findIn(others, clone, worktree.base, { fence: 2, url: `${bare}.none` })).rejects.toThrow(
      "cannot be fetched from",
    );
  });
});

describe("a folder that an attempt comes back to", () => {
  confined("has what was done elsewhere since then", async () => {
    const { worktrees, cwd, git } = await setUpRepository();
    const { worktree, made } = await commitWork({ worktrees, cwd }, "x\n");
    await writeFile(join(worktree.top, "left.txt"), "of a turn that did not count\n");
    await git("checkout", "-q", "--detach", made.commit);
    await writeFile(join(cwd, "c.txt"), "elsewhere\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "round 2");
    const from = await git("rev-parse", "HEAD");
    await git("checkout", "-q", "main");
    await worktrees.markSetUp(NAME);
    await worktrees.prepare({ ...NAME, cwd, from });
    expect(await readFile(join(worktree.top, "c.txt"), "utf8")).toBe("elsewhere\n");
    await expect(readFile(join(worktree.top, "left.txt"))).rejects.toThrow("ENOENT");
    expect(await worktrees.isSetUp(NAME)).toBe(false);
  });

  confined("keeps what is in it as long as it went on nowhere else", async () => {
    const { worktrees, cwd } = await setUpRepository();
    const { worktree, made } = await commitWork({ worktrees, cwd }, "x\n");
    await writeFile(join(worktree.top, "left.txt"), "unfinished\n");
    await worktrees.markSetUp(NAME);
    for (const from of [worktree.base, made.commit]) await worktrees.prepare({ ...NAME, cwd, from });
    expect(await readFile(join(worktree.top, "left.txt"), "utf8")).toBe("unfinished\n");
    expect(await worktrees.isSetUp(NAME)).toBe(true);
  });
});
