import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { GitCommand } from "../git/git-command.ts";
import { CommandSandbox } from "../sandbox/index.ts";
import { mergeResult } from "./merge.ts";
import { openPullRequest } from "./pull-request.ts";
import { TurnCommits } from "./turn-commit.ts";
import { Worktrees } from "./worktrees.ts";

const confined = needs("bwrap");
const run = promisify(execFile);
const WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"];
const SANDBOX = new CommandSandbox({ environment: process.env });
const NAME = { task: "task-1", attempt: 1 };

async function setUp() {
  const home = await agentFolder();
  const cwd = home.join("repo");
  const git = async (...args: string[]) => (await run("git", [...WHO, ...args], { cwd })).stdout.trim();
  await mkdir(cwd);
  await git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  return { home, cwd, git, worktrees: new Worktrees(home.join("worktrees"), process.env, SANDBOX) };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

async function commitWork({ worktrees, cwd }: Setup, content: string) {
  const worktree = await worktrees.prepare({ ...NAME, cwd });
  await writeFile(join(worktree.top, "b.txt"), content);
  const commits = new TurnCommits(worktrees, SANDBOX);
  const request = { ...NAME, worktree, round: 1, fence: 1, parent: worktree.base, message: "round 1" };
  return { worktree, made: await commits.commit(request) };
}

describe("a worktree", () => {
  confined("is made again after its `git worktree add` was killed", async () => {
    const { cwd, git, worktrees } = await setUp();
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

  confined("has the submodules that are checked out, from there, and is removed with them", async () => {
    const { home, cwd, git, worktrees } = await setUp();
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
    const { home, cwd, git, worktrees } = await setUp();
    await run("git", ["clone", "-q", cwd, home.join("library")]);
    await git("submodule", "--quiet", "add", home.join("library"), "lib");
    const mark = home.join("ran-outside");
    const section = (name: string) => `[submodule "${name}"]\n\tpath = lib\n\turl = ./lib\n`;
    const hostile = `lib.update=!touch ${mark}; #`;
    await writeFile(join(cwd, ".gitmodules"), section(hostile) + section("lib"));
    await git("add", ".gitmodules");
    await git("commit", "-q", "-m", "of an agent");
    await worktrees.prepare({ ...NAME, cwd });
    expect(existsSync(mark)).toBe(false);
  });

  confined("keeps the user's unfinished work out, also what is staged", async () => {
    const { cwd, git, worktrees } = await setUp();
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
    const { cwd, worktrees } = await setUp();
    await writeFile(join(cwd, ".git/index.lock"), "");
    expect(existsSync((await worktrees.prepare({ ...NAME, cwd })).top)).toBe(true);
  });

  confined("of a base that does not exist is refused by name", async () => {
    const { cwd, worktrees } = await setUp();
    await expect(worktrees.prepare({ ...NAME, cwd, base: "release-9" })).rejects.toThrow(
      "There is no commit release-9",
    );
  });

  confined("lists the ignored files that it got", async () => {
    const { cwd, worktrees } = await setUp();
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
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX);
    const setup = { home, cwd, worktrees, git: async () => "" };
    const { worktree, made } = await commitWork(setup, "new\n");
    expect(worktree.repository.isCopy).toBe(true);
    const diff = await worktrees.git(worktree.repository.top).run(["diff", worktree.base, made.commit]);
    expect(diff).toContain("+new");
    expect([existsSync(join(cwd, ".git")), existsSync(join(cwd, "b.txt"))]).toEqual([false, false]);
    await worktrees.remove(NAME, worktree.repository);
    expect(await worktrees.names()).toEqual([]);
  });

  confined("runs no filter that its broken .git names", async () => {
    const home = await agentFolder();
    const cwd = home.join("notes");
    const mark = home.join("ran-outside");
    await mkdir(join(cwd, ".git"), { recursive: true });
    await writeFile(join(cwd, ".git/config"), `[filter "x"]\n\tclean = touch ${mark}; cat\n`);
    await writeFile(join(cwd, ".gitattributes"), "* filter=x\n");
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX);
    const { repository } = await worktrees.prepare({ ...NAME, cwd });
    expect(repository.isCopy).toBe(true);
    expect(existsSync(mark)).toBe(false);
  });

  confined("that is gone is refused", async () => {
    const home = await agentFolder();
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX);
    await expect(worktrees.prepare({ ...NAME, cwd: home.join("none") })).rejects.toThrow("none");
  });
});

describe("a merge", () => {
  confined("goes on top of a branch that moves while its result is checked", async () => {
    const setup = await setUp();
    const { worktree, made } = await commitWork(setup, "new\n");
    await setup.git("checkout", "-q", "--detach");
    let moves = 0;
    const merged = await mergeResult(setup.worktrees.git(setup.cwd), {
      ...{ mode: "squash", target: "main", base: worktree.base, commit: made.commit },
      ...{ title: "Port it", message: "Port it\n" },
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
    const setup = await setUp();
    const { worktree, made } = await commitWork(setup, "new\n");
    await setup.git("checkout", "-q", "--detach");
    for (const hook of ["pre-commit", "commit-msg", "reference-transaction", "post-update"])
      await writeFile(join(setup.cwd, ".git/hooks", hook), `#!/bin/sh\ntouch ${setup.cwd}/ran\n`, {
        mode: 0o755,
      });
    await mergeResult(setup.worktrees.git(setup.cwd), {
      ...{ mode: "merge", target: "main", base: worktree.base, commit: made.commit },
      ...{ title: "Port it", message: "Port it\n", verify: async () => true },
    });
    expect(existsSync(join(setup.cwd, "ran"))).toBe(false);
  });
});

describe("a pull request", () => {
  const request = { branch: "flint/port-it", target: "main", title: "Port it", body: "Please" };

  /** A repository with a remote, a branch to offer, and a sandbox that finds only these programs. */
  async function withRemote(gh?: string) {
    const setup = await setUp();
    const bin = setup.home.join("bin");
    await mkdir(bin);
    if (gh !== undefined) {
      await writeFile(join(bin, "gh"), gh);
      await chmod(join(bin, "gh"), 0o755);
    }
    await run("git", ["clone", "-q", "--bare", setup.cwd, setup.home.join("remote.git")]);
    await setup.git("remote", "add", "origin", setup.home.join("remote.git"));
    await setup.git("branch", "flint/port-it");
    const open = (first = bin) => {
      const environment = { ...process.env, PATH: `${first}:/usr/bin:/bin` };
      const sandbox = new CommandSandbox({ environment });
      return openPullRequest(new GitCommand(setup.cwd, environment), sandbox, {
        ...request,
        folder: setup.cwd,
      });
    };
    return { ...setup, open };
  }

  test("is opened by the user's own gh, after the branch was pushed", async () => {
    const gh = '#!/bin/sh\necho "$@" > called\necho https://example.org/pull/7\n';
    const { cwd, home, open } = await withRemote(gh);
    expect(await open()).toBe("https://example.org/pull/7");
    expect(await readFile(join(cwd, "called"), "utf8")).toContain(
      "pr create --head flint/port-it --base main --title Port it --body Please",
    );
    const pushed = await run("git", ["-C", home.join("remote.git"), "branch", "--list", "flint/*"]);
    expect(pushed.stdout).toContain("flint/port-it");
  });

  test("is not opened by a gh that lies in the project", async () => {
    const { cwd, open } = await withRemote();
    const planted = '#!/bin/sh\necho "$@" > called\n';
    await mkdir(join(cwd, "bin"));
    await writeFile(join(cwd, "bin/gh"), planted, { mode: 0o755 });
    await expect(open(join(cwd, "bin"))).rejects.toThrow("gh was not found");
    expect(existsSync(join(cwd, "called"))).toBe(false);
  });

  test("needs gh, and says how to get on without it", async () => {
    const { open } = await withRemote();
    await expect(open()).rejects.toThrow(/gh was not found. Install gh and log in with: gh auth login/);
  });

  test("that gh refuses fails with its words", async () => {
    const gh = '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "you are not logged in" >&2\nexit 4\n';
    const { open } = await withRemote(gh);
    await expect(open()).rejects.toThrow("gh says: you are not logged in");
  });
});
