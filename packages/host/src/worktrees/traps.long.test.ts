import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, Gate, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { mergeResult } from "./merge.ts";
import { RepositoryLock } from "./repository-lock.ts";
import { commitWork, mergeOf, NAME, SANDBOX, setUpRepository, TRUSTED } from "./testing/worktree-fixture.ts";
import { Worktrees } from "./worktrees.ts";

const confined = needs("bwrap");
const run = promisify(execFile);

/** The text that Git LFS commits in place of a file. */
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 5\n`;

describe("a worktree", () => {
  confined("is made again after its `git worktree add` was killed", async () => {
    const { cwd, git, worktrees } = await setUpRepository();
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    const entry = (await readFile(join(top, ".git"), "utf8")).replace("gitdir: ", "").trim();
    // What a killed one leaves: a lock that prune respects, a lock of the index, and no files.
    await writeFile(join(entry, "locked"), "initializing\n");
    await writeFile(join(entry, "index.lock"), "");
    await rm(join(top, "..", "complete"));
    await rm(top, { recursive: true });
    const again = await worktrees.prepare({ ...NAME, cwd });
    expect(await readFile(join(again.top, "a.txt"), "utf8")).toBe("one\n");
    expect((await git("worktree", "list")).split("\n")).toHaveLength(2);
  });

  const REMOVALS: Readonly<Record<string, (top: string, cwd: string) => Promise<unknown>>> = {
    "with git": (top, cwd) => run("git", ["-C", cwd, "worktree", "remove", "--force", "--force", top]),
    "by deleting its files": (top) => rm(top, { recursive: true }),
  };
  for (const [how, remove] of Object.entries(REMOVALS))
    confined(`that was removed ${how} is made again from the last round`, async () => {
      const setup = await setUpRepository();
      const { cwd, git, worktrees } = setup;
      const { worktree, made } = await commitWork(setup, "new\n");
      const review = await worktrees.checkOut(NAME, "review", worktree.repository, made.commit);
      for (const folder of [worktree.top, review]) await remove(folder, cwd);
      const again = await worktrees.prepare({ ...NAME, cwd, from: made.commit });
      expect(again).toEqual(worktree);
      await worktrees.checkOut(NAME, "review", worktree.repository, made.commit);
      for (const folder of [worktree.top, review])
        expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("new\n");
      expect(await worktrees.head(again)).toBe(made.commit);
      expect((await git("worktree", "list")).split("\n")).toHaveLength(3);
    });

  confined("whose .git was deleted keeps its files, and is one of the repository again", async () => {
    const { cwd, git, worktrees } = await setUpRepository();
    const { top, repository, base } = await worktrees.prepare({ ...NAME, cwd });
    const review = await worktrees.checkOut(NAME, "review", repository, base);
    await writeFile(join(top, "b.txt"), "work\n");
    const before = await git("rev-parse", "HEAD");
    for (const folder of [top, review]) await rm(join(folder, ".git"));
    await worktrees.prepare({ ...NAME, cwd });
    await worktrees.checkOut(NAME, "review", repository, base);
    expect(await readFile(join(top, "b.txt"), "utf8")).toBe("work\n");
    for (const folder of [top, review])
      expect((await run("git", ["-C", folder, "rev-parse", "HEAD"])).stdout.trim()).toBe(before);
  });

  confined("that git does not know any more is left as it is, and that is said", async () => {
    const { cwd, git, worktrees } = await setUpRepository();
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    await writeFile(join(top, "b.txt"), "work\n");
    await rm(join(cwd, ".git/worktrees"), { recursive: true });
    await expect(worktrees.prepare({ ...NAME, cwd })).rejects.toThrow(
      /is no longer a worktree of .*Move the folder away, and the task continues from its last commit/,
    );
    expect(existsSync(join(top, "b.txt"))).toBe(true);
    await rm(top, { recursive: true });
    await worktrees.prepare({ ...NAME, cwd });
    expect((await git("worktree", "list")).split("\n")).toHaveLength(2);
  });

  confined("is added alone, also if several Flint processes work in a repository", async () => {
    const { home, cwd } = await setUpRepository();
    const [bin, mark, log] = [home.join("bin"), home.join("mark"), home.join("log")];
    const { stdout } = await run("which", ["git"]);
    const git = stdout.trim();
    const watched = `mkdir ${mark} || echo together >> ${log}; ${git} "$@"; code=$?; rmdir ${mark}; exit $code`;
    await mkdir(bin);
    const script = `#!/bin/sh\ncase "$*" in *"worktree add"*) ${watched};; esac\nexec ${git} "$@"\n`;
    await writeFile(join(bin, "git"), script, { mode: 0o755 });
    const environment = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    // Each has a queue of its own, as in another process.
    const both = ["one", "two"].map((name) => new Worktrees(home.join(name), environment, SANDBOX, TRUSTED));
    const made = both.flatMap((worktrees, index) =>
      [1, 2, 3, 4].map((attempt) => worktrees.prepare({ task: `task-${index}`, attempt, cwd })),
    );
    expect(await Promise.all(made)).toHaveLength(8);
    expect(existsSync(log)).toBe(false);
  });

  confined("waits for the other process that works in the repository, but not for ever", async () => {
    const { cwd } = await setUpRepository();
    const [holder, other] = [new RepositoryLock(), new RepositoryLock(0)];
    const gate = new Gate();
    const held = holder.alone(join(cwd, ".git"), () => gate.wait());
    await gate.reached;
    const late = other.alone(join(cwd, ".git"), async () => "done");
    await expect(late).rejects.toThrow(`Process ${process.pid} does not finish its work on the worktrees of`);
    gate.open();
    await held;
    expect(await other.alone(join(cwd, ".git"), async () => "done")).toBe("done");
  });

  confined("leaves the files of Git LFS what the repository has, without fetching them", async () => {
    const { cwd, git, worktrees } = await setUpRepository();
    const smudge = "sh -c 'if [ -z \"$GIT_LFS_SKIP_SMUDGE\" ]; then echo fetched; else cat; fi'";
    for (const [key, value] of [
      ["clean", "cat"],
      ["smudge", smudge],
      ["required", "true"],
    ])
      await git("config", `filter.lfs.${key}`, value ?? "");
    await writeFile(join(cwd, ".gitattributes"), "*.bin filter=lfs\n");
    await writeFile(join(cwd, "big.bin"), POINTER);
    await git("add", ".");
    await git("commit", "-q", "-m", "large files");
    const { top, repository, base } = await worktrees.prepare({ ...NAME, cwd });
    const review = await worktrees.checkOut(NAME, "review", repository, base);
    for (const folder of [top, review]) expect(await readFile(join(folder, "big.bin"), "utf8")).toBe(POINTER);
  });

  confined("gets no ignored files if the user does not trust the list of them", async () => {
    const { home, cwd } = await setUpRepository();
    await writeFile(join(cwd, ".gitignore"), ".env\n");
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    const asked: string[] = [];
    let isTrusted = false;
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX, {
      ...TRUSTED,
      isTrusted: async (folder, path) => {
        asked.push(join(folder, path));
        return isTrusted;
      },
    });
    const { repository, base } = await worktrees.prepare({ ...NAME, cwd });
    expect([asked, await worktrees.notices(NAME)]).toEqual([[], []]);
    await worktrees.remove(NAME, repository);
    await writeFile(join(cwd, ".worktreeinclude"), ".env\n");
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect(asked).toEqual([join(cwd, ".worktreeinclude")]);
    expect([await worktrees.included(NAME), existsSync(join(top, ".env"))]).toEqual([[], false]);
    expect(await worktrees.notices(NAME)).toEqual([expect.stringContaining("Review it with flint trust")]);
    const review = () => worktrees.checkOut(NAME, "review", repository, base);
    expect(existsSync(join(await review(), ".env"))).toBe(false);
    isTrusted = true;
    expect(existsSync(join(await review(), ".env"))).toBe(true);
  });

  confined("has the submodules that are checked out, from there, and is removed with them", async () => {
    const { home, cwd, git, worktrees } = await setUpRepository();
    await run("git", ["clone", "-q", cwd, home.join("library")]);
    await git("submodule", "--quiet", "add", home.join("library"), "lib");
    await git("commit", "-q", "-m", "with a submodule");
    await rm(home.join("library"), { recursive: true });
    const { top, repository } = await worktrees.prepare({ ...NAME, cwd });
    expect(await readFile(join(top, "lib/a.txt"), "utf8")).toBe("one\n");
    await worktrees.remove(NAME, repository);
    expect(existsSync(top)).toBe(false);
    expect((await git("worktree", "list")).split("\n")).toHaveLength(1);
  });

  confined("runs no command that the name of a submodule smuggles in", async () => {
    const { home, cwd, git, worktrees } = await setUpRepository();
    await run("git", ["clone", "-q", cwd, home.join("library")]);
    await git("submodule", "--quiet", "add", home.join("library"), "lib");
    const mark = home.join("ran-outside");
    const section = (name: string) => `[submodule "${name}"]\n\tpath = lib\n\turl = ./lib\n`;
    const hostile = `lib.update=!touch ${mark}; #`;
    for (const [attempt, others] of [section("lib"), ""].entries()) {
      await writeFile(join(cwd, ".gitmodules"), section(hostile) + others);
      await git("commit", "-q", "-a", "-m", "of an agent");
      const { top } = await worktrees.prepare({ task: `task-${attempt}`, attempt: 1, cwd });
      expect(existsSync(mark)).toBe(false);
      // A submodule that has only such a name stays empty.
      expect(existsSync(join(top, "lib/a.txt"))).toBe(others !== "");
    }
  });

  confined("keeps the user's unfinished work out, also what is staged", async () => {
    const { cwd, git, worktrees } = await setUpRepository();
    await writeFile(join(cwd, "a.txt"), "unfinished\n");
    await writeFile(join(cwd, "staged.txt"), "staged\n");
    await git("add", "staged.txt");
    const before = await git("status", "--porcelain");
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect(await readFile(join(top, "a.txt"), "utf8")).toBe("one\n");
    expect(existsSync(join(top, "staged.txt"))).toBe(false);
    expect(await git("status", "--porcelain")).toBe(before);
  });

  confined("can be made while the user's own index is locked", async () => {
    const { cwd, worktrees } = await setUpRepository();
    await writeFile(join(cwd, ".git/index.lock"), "");
    expect(existsSync((await worktrees.prepare({ ...NAME, cwd })).top)).toBe(true);
  });

  confined("of a base that does not exist is refused by name", async () => {
    const { cwd, worktrees } = await setUpRepository();
    await expect(worktrees.prepare({ ...NAME, cwd, base: "release-9" })).rejects.toThrow(
      "There is no commit release-9",
    );
  });

  confined("lists the ignored files that it got", async () => {
    const { cwd, worktrees } = await setUpRepository();
    await writeFile(join(cwd, ".gitignore"), ".env\n");
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    await writeFile(join(cwd, ".worktreeinclude"), ".env\n");
    await worktrees.prepare({ ...NAME, cwd });
    expect(await worktrees.included(NAME)).toEqual([".env"]);
  });
});

describe("a folder that is in no repository", () => {
  confined("is copied, its work is committed there, and the folder itself stays as it is", async () => {
    const home = await agentFolder();
    const cwd = home.join("notes");
    await mkdir(cwd);
    await writeFile(join(cwd, "a.txt"), "one\n");
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX, TRUSTED);
    const { worktree, made } = await commitWork({ cwd, worktrees }, "new\n");
    expect(worktree.repository.isCopy).toBe(true);
    const diff = await worktrees.git(worktree.repository.top).run(["diff", worktree.base, made.commit]);
    expect(diff).toContain("+new");
    expect([existsSync(join(cwd, ".git")), existsSync(join(cwd, "b.txt"))]).toEqual([false, false]);
    await worktrees.remove(NAME, worktree.repository);
    expect(await worktrees.names()).toEqual(["task-1-source"]);
    await worktrees.removeCopy("task-1");
    expect(await worktrees.names()).toEqual([]);
  });

  confined("runs no filter that its broken .git names", async () => {
    const home = await agentFolder();
    const cwd = home.join("notes");
    const mark = home.join("ran-outside");
    await mkdir(join(cwd, ".git"), { recursive: true });
    await writeFile(join(cwd, ".git/config"), `[filter "x"]\n\tclean = touch ${mark}; cat\n`);
    await writeFile(join(cwd, ".gitattributes"), "* filter=x\n");
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX, TRUSTED);
    const { repository } = await worktrees.prepare({ ...NAME, cwd });
    expect(repository.isCopy).toBe(true);
    expect(existsSync(mark)).toBe(false);
    // The agent's own git would run it later.
    expect(await readFile(join(repository.commonDir, "config"), "utf8")).not.toContain("filter");
  });

  confined("that is gone is refused", async () => {
    const home = await agentFolder();
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX, TRUSTED);
    await expect(worktrees.prepare({ ...NAME, cwd: home.join("none") })).rejects.toThrow("none");
  });
});

describe("a merge", () => {
  confined("goes on top of a branch that moves while its result is checked", async () => {
    const setup = await setUpRepository();
    const { worktree, made } = await commitWork(setup, "new\n");
    await setup.git("checkout", "-q", "--detach");
    let moves = 0;
    const merged = await mergeResult(setup.worktrees.git(setup.cwd), {
      ...mergeOf(worktree.base, made.commit),
      verify: async () => {
        moves += 1;
        if (moves > 1) return true;
        const other = await setup.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}");
        await setup.git("update-ref", "refs/heads/main", other);
        return true;
      },
    });
    expect(merged).toMatchObject({ kind: "merged", ref: "refs/heads/main" });
    expect(moves).toBe(2);
    expect(await setup.git("log", "--format=%s", "main")).toBe("Port it\ntheirs\nfirst");
  });

  confined("runs none of the user's hooks", async () => {
    const setup = await setUpRepository();
    const { worktree, made } = await commitWork(setup, "new\n");
    await setup.git("checkout", "-q", "--detach");
    for (const hook of ["pre-commit", "commit-msg", "reference-transaction", "post-update"])
      await writeFile(join(setup.cwd, ".git/hooks", hook), `#!/bin/sh\ntouch ${setup.cwd}/ran\n`, {
        mode: 0o755,
      });
    const request = mergeOf(worktree.base, made.commit, { mode: "merge" });
    await mergeResult(setup.worktrees.git(setup.cwd), request);
    expect(existsSync(join(setup.cwd, "ran"))).toBe(false);
  });
});
