import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, needs, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { declinedRef } from "../git/incoming.ts";
import { CommandSandbox } from "../sandbox/index.ts";
import { changedLines, isChanged } from "./changed-lines.ts";
import { type MergeRequest, mergeResult } from "./merge.ts";
import { TRUSTED } from "./testing/worktree-fixture.ts";
import { TurnCommits } from "./turn-commit.ts";
import { taskRef } from "./worktree-repository.ts";
import { Worktrees } from "./worktrees.ts";

const confined = needs("bwrap");
const run = promisify(execFile);
const WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
const NAME = { task: "task-1", attempt: 1 };

/** A repository with one commit on main, and a private folder for worktrees. */
async function setUp(repository?: string) {
  const home = await agentFolder();
  const cwd = repository ?? home.join("repo");
  await mkdir(cwd);
  const git = async (...args: string[]) => (await run("git", [...WHO, ...args], { cwd })).stdout.trim();
  await git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\ntwo\nthree\n");
  await writeFile(join(cwd, ".gitignore"), ".env\nbuild/\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  const sandbox = new CommandSandbox({ environment: process.env });
  const worktrees = new Worktrees(home.join("worktrees"), process.env, sandbox, TRUSTED);
  return { cwd, git, worktrees, sandbox, outside: home.join("outside") };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

/** Commits what was written to the worktree of a first attempt. */
async function commitWork(
  { worktrees, sandbox, cwd }: Setup,
  files: Record<string, string>,
  round = 1,
  parent?: string,
) {
  const worktree = await worktrees.prepare({ ...NAME, cwd });
  for (const [name, content] of Object.entries(files)) await writeFile(join(worktree.top, name), content);
  const commits = new TurnCommits(worktrees, sandbox);
  const from = parent ?? worktree.base;
  const made = await commits.commit({
    ...NAME,
    worktree,
    round,
    fence: round,
    parent: from,
    message: `round ${round}`,
  });
  return { worktree, made };
}

function mergeOf(base: string, commit: string, change: Partial<MergeRequest> = {}): MergeRequest {
  const texts = { title: "Port the config", message: "Port the config\n" };
  const record = taskRef("task-1", "a1", "merged", commit);
  return {
    mode: "squash",
    target: "main",
    base,
    commit,
    ...texts,
    record,
    verify: async () => true,
    ...change,
  };
}

describe("worktrees", () => {
  test("are separate detached folders, and the user's checkout and branches do not change", async () => {
    const { cwd, git, worktrees } = await setUp();
    await writeFile(join(cwd, "a.txt"), "unfinished\n");
    const { top, base } = await worktrees.prepare({ ...NAME, cwd });
    expect(await readFile(join(top, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(await git("rev-parse", taskRef("task-1", "a1", "base"))).toBe(base);
    expect(await git("branch", "--format=%(refname)")).toBe("refs/heads/main");
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("unfinished\n");
  });

  test("can be made many at once", async () => {
    const { cwd, worktrees } = await setUp();
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => worktrees.prepare({ task: `task-${index}`, attempt: 1, cwd })),
    );
    expect(made.every(({ top }) => existsSync(join(top, "a.txt")))).toBe(true);
  });

  test("stay on their base when the branch moves, and are recreated if their folder was removed", async () => {
    const { cwd, git, worktrees } = await setUp();
    const first = await worktrees.prepare({ ...NAME, cwd });
    await git("commit", "-q", "--allow-empty", "-m", "second");
    await rm(join(first.top, ".."), { recursive: true });
    const again = await worktrees.prepare({ ...NAME, cwd });
    expect(again.base).toBe(first.base);
    expect(existsSync(join(again.top, "a.txt"))).toBe(true);
  });

  test("that were left half made are made again", async () => {
    const { cwd, git, worktrees } = await setUp();
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    await rm(join(top, "..", "complete"));
    await rm(join(top, "a.txt"));
    expect(existsSync(join((await worktrees.prepare({ ...NAME, cwd })).top, "a.txt"))).toBe(true);
    expect((await git("worktree", "list")).split("\n")).toHaveLength(2);
  });

  test("get the ignored files that .worktreeinclude names, and no links that lead out", async () => {
    const { cwd, worktrees } = await setUp();
    await mkdir(join(cwd, "build/bin"), { recursive: true });
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    await writeFile(join(cwd, "build/out"), "built\n", { mode: 0o755 });
    const links = {
      ...{ "build/absolute": "/etc/passwd", "build/out-of-it": "../../a.txt", "build/bin/tool": "../out" },
      ...{ "build/bin/up": "../..", "build/bin/through": "up/../../a.txt", "build/bin/a.txt": "../../a.txt" },
    };
    for (const [name, target] of Object.entries(links)) await symlink(target, join(cwd, name));
    await writeFile(join(cwd, "notes"), "mine\n");
    await writeFile(join(cwd, ".worktreeinclude"), ".env\nbuild\nnotes\n");
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    const kept = ["build/bin/a.txt", "build/bin/tool"];
    expect((await worktrees.included(NAME)).toSorted()).toEqual([".env", ...kept, "build/out"]);
    expect(existsSync(join(top, "notes"))).toBe(false);
    expect(await readlink(join(top, "build/bin/tool"))).toBe("../out");
    expect((await stat(join(top, "build/out"))).mode & 0o777).toBe(0o755);
    // A copy of its own: what an agent writes there is not in the user's checkout.
    await writeFile(join(top, "build/out"), "changed\n");
    expect(await readFile(join(cwd, "build/out"), "utf8")).toBe("built\n");
  });

  test("for a review or a merge get the ignored files each time, and the subfolder of the task", async () => {
    const { cwd, git, worktrees } = await setUp();
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    await writeFile(join(cwd, ".worktreeinclude"), ".env\n");
    await mkdir(join(cwd, "sub"));
    const { repository, base } = await worktrees.prepare({ ...NAME, cwd: join(cwd, "sub") });
    for (const time of [1, 2]) {
      const folder = await worktrees.checkOut(NAME, "merge", repository, base);
      expect(folder.endsWith("-merge/tree/sub") && existsSync(folder), `${time}`).toBe(true);
      expect(await readFile(join(folder, "../.env"), "utf8")).toBe("KEY=1\n");
      await writeFile(join(folder, "left"), "x");
    }
    // A commit that has a link in its place, which leads out of the worktree.
    await rm(join(cwd, "sub"), { recursive: true });
    await symlink("/etc", join(cwd, "sub"));
    await git("add", "sub");
    await git("commit", "-q", "-m", "of an agent");
    const linked = await git("rev-parse", "HEAD");
    await expect(worktrees.checkOut(NAME, "merge", repository, linked)).rejects.toThrow(
      "sub is not a folder in the work of the task",
    );
  });

  confined("run filters in the sandbox, because an agent may have written their programs", async () => {
    const { cwd, git, worktrees, outside } = await setUp();
    await git("config", "filter.local.smudge", "./0filter.sh");
    await writeFile(join(cwd, "0filter.sh"), `#!/bin/sh\ntouch ${outside}\nsed s/one/smudged/\n`, {
      mode: 0o755,
    });
    await writeFile(join(cwd, ".gitattributes"), "a.txt filter=local\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "filtered");
    const { top, base, repository } = await worktrees.prepare({ ...NAME, cwd });
    const review = await worktrees.checkOut(NAME, "review", repository, base);
    await writeFile(join(review, "a.txt"), "changed\n");
    await writeFile(join(review, ".gitattributes"), "");
    await worktrees.checkOut(NAME, "review", repository, base);
    for (const folder of [top, review])
      expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("smudged\ntwo\nthree\n");
    expect(existsSync(outside)).toBe(false);
  });

  test("get no ignored file through a link that an agent has committed", async () => {
    const { cwd, git, worktrees, outside } = await setUp();
    await mkdir(outside);
    await symlink(outside, join(cwd, "build"));
    await symlink(join(outside, "env"), join(cwd, ".env"));
    await git("add", "--force", "build", ".env");
    await git("commit", "-q", "-m", "of an agent");
    const from = await git("rev-parse", "HEAD");
    await git("reset", "-q", "--hard", "HEAD~1");
    await mkdir(join(cwd, "build"));
    await writeFile(join(cwd, "build/authorized_keys"), "mine\n");
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    await writeFile(join(cwd, ".worktreeinclude"), ".env\nbuild/\n");
    const { top } = await worktrees.prepare({ ...NAME, cwd, from });
    expect(await readlink(join(top, "build"))).toBe(outside);
    expect(await readdir(outside)).toEqual([]);
  });

  test("are removed with what belongs to them, but not their commits", async () => {
    const { cwd, git, worktrees } = await setUp();
    const { top, repository } = await worktrees.prepare({ ...NAME, cwd });
    await worktrees.checkOut(NAME, "review", repository, "HEAD");
    await worktrees.remove(NAME, repository);
    expect(existsSync(top)).toBe(false);
    expect((await git("worktree", "list")).split("\n")).toHaveLength(1);
    expect(await git("rev-parse", taskRef("task-1", "a1", "base"))).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("the work of a turn", () => {
  confined("is committed under a ref of the task, added, changed and deleted files alike", async () => {
    const setup = await setUp();
    const { worktree, made } = await commitWork(setup, {
      "a.txt": "one\n2\nthree\n",
      "b.txt": "new\n",
      ".env": "x",
    });
    expect(made.changed).toBe(true);
    expect(await setup.git("diff", "--name-only", worktree.base, made.commit)).toBe("a.txt\nb.txt");
    expect(await setup.git("for-each-ref", "--format=%(refname)", "refs/flint")).toContain("/a1/r1/1");
    await rm(join(worktree.top, "b.txt"));
    const second = await commitWork(setup, {}, 2, made.commit);
    expect(await setup.git("diff", "--name-status", made.commit, second.made.commit)).toBe("D\tb.txt");
    expect((await commitWork(setup, {}, 3, second.made.commit)).made.changed).toBe(false);
    const lines = changedLines(await setup.git("diff", "-U0", worktree.base, made.commit));
    expect([
      isChanged(lines, "a.txt", 2),
      isChanged(lines, "a.txt", 3),
      isChanged(lines, "c.txt", 1),
    ]).toEqual([true, false, false]);
  });

  confined("is committed to a repository in /tmp, which the sandbox covers", async () => {
    const setup = await setUp((await temporaryFolder()).join("repo"));
    const { worktree, made } = await commitWork(setup, { "b.txt": "new\n" });
    expect(await readFile(join(worktree.top, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(await setup.git("diff", "--name-only", worktree.base, made.commit)).toBe("b.txt");
  });

  confined("of a lost run cannot take the place of a later one", async () => {
    const setup = await setUp();
    const { made } = await commitWork(setup, { "a.txt": "first\n" });
    await expect(commitWork(setup, { "a.txt": "second\n" }, 1, made.commit)).rejects.toThrow(
      "Another run has committed",
    );
  });

  confined("is not lost with a run that ended before it could tell", async () => {
    const setup = await setUp();
    const { made, worktree } = await commitWork(setup, { "a.txt": "first\n" });
    await writeFile(join(worktree.top, "b.txt"), "second\n");
    const commits = new TurnCommits(setup.worktrees, setup.sandbox);
    const request = { ...NAME, worktree, round: 1, fence: 9, parent: worktree.base, message: "second" };
    const next = await commits.commit(request);
    expect(await setup.git("rev-parse", `${next.commit}^`)).toBe(made.commit);
    expect(await setup.worktrees.head(worktree)).toBe(next.commit);
  });

  test("is looked up only where commits of its thread are kept, whatever an agent names", () => {
    expect(declinedRef("01-a", "HEAD")).toBe("refs/flint/in/01-a/HEAD");
    expect(declinedRef("01-a", "refs/heads/topic/x")).toBe("refs/flint/in/01-a/heads/topic/x");
    const names = ["heads/x", "refs/heads/../../other", "refs/heads/x~1", "refs/heads/x@{1}", "refs/flint/x"];
    names.push("", "HEAD^", "refs/heads/x:a.txt", "refs/heads/-x", "refs/heads/x y", "../HEAD", "refs/stash");
    for (const name of names) expect(declinedRef("01-a", name), name).toBeUndefined();
    for (const id of ["..", "a/b", "", "a b"]) expect(declinedRef(id, "HEAD"), id).toBeUndefined();
  });

  confined("runs no hook and no file system monitor outside of the sandbox", async () => {
    const setup = await setUp();
    const proof = join(setup.cwd, "ran");
    await setup.git("config", "core.fsmonitor", `touch ${proof}; false`);
    await writeFile(join(setup.cwd, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${proof}\n`, {
      mode: 0o755,
    });
    await commitWork(setup, { "a.txt": "x\n" });
    expect(existsSync(proof)).toBe(false);
  });
});

describe("a merge", () => {
  confined("makes a branch, and moves no branch that is checked out", async () => {
    const setup = await setUp();
    const { worktree, made } = await commitWork(setup, { "b.txt": "new\n" });
    const git = setup.worktrees.git(setup.cwd);
    const squashed = await mergeResult(git, mergeOf(worktree.base, made.commit));
    expect(squashed).toMatchObject({ kind: "merged", ref: "refs/heads/flint/port-the-config" });
    expect(squashed).toHaveProperty(
      "note",
      expect.stringContaining("git merge --ff-only flint/port-the-config"),
    );
    expect(await setup.git("rev-parse", "main")).toBe(worktree.base);
    const second = await mergeResult(git, {
      ...mergeOf(worktree.base, made.commit, { mode: "branch" }),
      record: taskRef("task-2", "a1", "merged", made.commit),
    });
    expect(second).toMatchObject({ ref: "refs/heads/flint/port-the-config-2", commit: made.commit });
  });

  for (const mode of ["squash", "rebase", "merge"] as const)
    confined(`by ${mode} goes on top of what the target has become`, async () => {
      const setup = await setUp();
      const { worktree, made } = await commitWork(setup, { "b.txt": "new\n" });
      await writeFile(join(setup.cwd, "c.txt"), "theirs\n");
      await setup.git("add", "c.txt");
      await setup.git("commit", "-q", "-m", "theirs");
      await setup.git("checkout", "-q", "--detach");
      const merged = await mergeResult(
        setup.worktrees.git(setup.cwd),
        mergeOf(worktree.base, made.commit, { mode }),
      );
      expect(merged).toMatchObject({ kind: "merged", ref: "refs/heads/main" });
      expect(await setup.git("ls-tree", "--name-only", "main")).toBe(".gitignore\na.txt\nb.txt\nc.txt");
      expect(await setup.git("rev-list", "--count", "main")).toBe(mode === "merge" ? "4" : "3");
    });

  confined("that conflicts names the files and changes nothing", async () => {
    const setup = await setUp();
    const { worktree, made } = await commitWork(setup, { "a.txt": "mine\n" });
    await writeFile(join(setup.cwd, "a.txt"), "theirs\n");
    await setup.git("commit", "-qam", "theirs");
    const before = await setup.git("rev-parse", "main");
    const merged = await mergeResult(setup.worktrees.git(setup.cwd), mergeOf(worktree.base, made.commit));
    expect(merged).toEqual({ kind: "conflict", files: ["a.txt"], onto: before });
    expect(await setup.git("rev-parse", "main")).toBe(before);
  });

  confined("stops if the merged commit does not pass its checks", async () => {
    const setup = await setUp();
    const { worktree, made } = await commitWork(setup, { "b.txt": "new\n" });
    const request = mergeOf(worktree.base, made.commit, { verify: async () => false });
    expect(await mergeResult(setup.worktrees.git(setup.cwd), request)).toEqual({ kind: "unverified" });
  });
});
