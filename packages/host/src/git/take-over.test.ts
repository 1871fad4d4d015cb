import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type GitResult, runToEnd } from "../sandbox/processes/run-to-end.ts";
import { type ConfinedGit, ConfinedProcess } from "./confined-git.ts";
import { GitCommand } from "./git-command.ts";
import { makePrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";
import { findRepository } from "./repository.ts";
import { GitTakeOver } from "./take-over.ts";

const confined = needs("bwrap");
const run = promisify(execFile);
const WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
const IDENTITY =
  "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b;";

const OPTIONS = { cwd: "/", env: process.env, timeoutMs: 5_000 };

/** Runs a command with the private directory in place, without network, in a read-only file system. */
class BwrapGit implements ConfinedGit {
  readonly #private: PrivateGitDir;

  constructor(privateDir: PrivateGitDir) {
    this.#private = privateDir;
  }

  #wrap(command: readonly string[]): readonly string[] {
    const { repository, mounts } = this.#private;
    const { worktree } = repository;
    return [
      ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"],
      ...["--bind", worktree, worktree],
      ...mounts.flatMap(({ source, target, writable }) => [
        writable ? "--bind" : "--ro-bind",
        source,
        target,
      ]),
      ...["--unshare-all", "--die-with-parent", "--chdir", worktree, "--"],
      ...command,
    ];
  }

  async run(command: readonly string[], input?: string): Promise<GitResult> {
    return runToEnd(this.#wrap(command), { ...OPTIONS, input });
  }

  async start(command: readonly string[]): Promise<ConfinedProcess> {
    return new ConfinedProcess(this.#wrap(command), OPTIONS);
  }
}

/** Runs something else, as if the agent could replace git and the shell. */
class ReplacedGit implements ConfinedGit {
  readonly #command: readonly string[];

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  run(): Promise<GitResult> {
    return runToEnd(this.#command, OPTIONS);
  }

  async start(): Promise<ConfinedProcess> {
    return new ConfinedProcess(this.#command, OPTIONS);
  }
}

/** A report that says `refs/heads/x` is this object, then whatever a script sends. */
function reporting(object: string, sending: string): string {
  const sections = ["", `${object} refs/heads/x\n`, "refs/heads/main\n", "", "", "", "", ""];
  const printed = `${sections.join("--flint--\n")}--flint-end--\n`;
  return `printf '%s' '${printed}'; read -r _ || exit 0; ${sending}`;
}

/** A repository with one commit, and an agent that works on it. */
async function setUp(prepare: (path: string, git: Git) => Promise<void> = async () => undefined) {
  const home = await temporaryFolder();
  const path = home.join("work");
  await mkdir(path);
  const git: Git = async (...args) => (await run("git", [...WHO, ...args], { cwd: path })).stdout;
  await git("init", "-q", "-b", "main");
  await writeFile(join(path, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  await prepare(path, git);
  return { path, git, ...(await startAgent(path, home.join("private"))) };
}

type Git = (...args: string[]) => Promise<string>;

async function startAgent(path: string, folder: string) {
  const found = new GitCommand(path, process.env);
  const repository = await findRepository(found, path);
  if (repository === undefined) throw new Error("no repository");
  const command = found.in(repository);
  const privateDir = await makePrivateGitDir(command, repository, {
    folder,
    declinedBelow: "refs/flint/in/t1",
    number: 0,
  });
  const sandbox = new BwrapGit(privateDir);
  const takeOver = new GitTakeOver(command, privateDir, sandbox, "refs/flint/in/t1");
  const agent = async (script: string) => {
    const result = await sandbox.run(["sh", "-c", `${IDENTITY}\n${script}`]);
    if (result.exitCode !== 0) throw new Error(`${script}: ${result.stderr}`);
    return result.stdout;
  };
  const offered = async (from = takeOver) => {
    const pending = await from.pending();
    return pending.offer().finally(() => pending.close());
  };
  const take = async () => {
    const offer = await offered();
    return { offer, result: await takeOver.accept(offer.incoming) };
  };
  /** Takes over from a program that answers in place of the sandbox. */
  const replaced = (script: string) =>
    new GitTakeOver(command, privateDir, new ReplacedGit(["sh", "-c", script]), "refs/flint/in/t1", {
      refs: 10,
      packBytes: 1_000_000,
    });
  return { agent, take, takeOver, offered, replaced, folder };
}

const DONE = { status: "done", notes: [] };

describe("commits of an agent", () => {
  confined(
    "are invisible to the user until they are taken over, and shown with titles and diff",
    async () => {
      const { agent, git, take } = await setUp();
      await agent(
        "echo two >> a.txt; git commit -qam 'add two'; echo three > b.txt; git add .; git commit -qm 'add b'",
      );
      expect(await git("log", "--format=%s")).toBe("first\n");
      const { offer, result } = await take();
      expect(offer.refs).toMatchObject([
        { name: "refs/heads/main", total: 2, commits: [{ title: "add b" }, { title: "add two" }] },
      ]);
      expect(offer.diff).toContain("+two");
      expect(result).toEqual(DONE);
      expect(await git("log", "--format=%s")).toBe("add b\nadd two\nfirst\n");
      expect(await git("status", "--porcelain")).toBe("");
      expect(await git("for-each-ref", "refs/flint")).toBe("");
    },
  );

  confined("include branches, switches, merges, rebases, tags and a stash", async () => {
    const { agent, git, take } = await setUp();
    await agent(
      [
        "git switch -qc topic; echo t > t.txt; git add .; git commit -qm topic",
        "git switch -q main; echo m > m.txt; git add .; git commit -qm main2",
        "git rebase -q main topic; git switch -q main; git merge -q --no-ff -m merged topic; git tag v1",
        "echo later >> a.txt; git stash -q; git switch -q topic",
      ].join("\n"),
    );
    const { result } = await take();
    expect(result).toEqual(DONE);
    expect(await git("branch", "--show-current")).toBe("topic\n");
    expect((await git("for-each-ref", "--format=%(refname)")).split("\n")).toEqual([
      ...["refs/heads/main", "refs/heads/topic", "refs/stash", "refs/tags/v1", ""],
    ]);
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("log", "-1", "--format=%s", "main")).toBe("merged\n");
  });

  confined("leave what was staged staged", async () => {
    const { agent, git, take } = await setUp();
    await agent(
      "echo two >> a.txt; git commit -qam two; echo three > b.txt; git add b.txt; echo four > c.txt",
    );
    await take();
    expect(await git("status", "--porcelain")).toBe("A  b.txt\n?? c.txt\n");
  });

  confined("move nothing and stay available if the user committed meanwhile", async () => {
    const { agent, git, take, path } = await setUp();
    await agent("echo two > b.txt; git add b.txt; git commit -qm agents");
    await writeFile(join(path, "c.txt"), "mine\n");
    await git("add", "c.txt");
    await git("commit", "-qm", "mine");
    const { offer, result } = await take();
    expect(result).toMatchObject({ status: "refused", reason: expect.stringContaining("refs/heads/main") });
    expect(await git("log", "--format=%s")).toBe("mine\nfirst\n");
    await offer.keep();
    expect(await git("log", "--format=%s", "refs/flint/in/t1/heads/main")).toBe("agents\nfirst\n");
  });

  confined("leave what the user staged meanwhile staged", async () => {
    const { agent, git, take, path } = await setUp();
    await agent("echo two >> a.txt; git commit -qam two");
    await writeFile(join(path, "mine.txt"), "mine\n");
    await git("add", "mine.txt");
    expect((await take()).result).toEqual(DONE);
    expect(await git("status", "--porcelain")).toBe("A  mine.txt\n");
  });

  confined("are refused while the user is in the middle of a merge", async () => {
    const { agent, git, take, path } = await setUp();
    await agent("echo two > b.txt; git add b.txt; git commit -qm two");
    await writeFile(join(path, ".git", "MERGE_HEAD"), `${(await git("rev-parse", "HEAD")).trim()}\n`);
    expect((await take()).result).toEqual({
      ...{ status: "refused", reason: "a merge is not finished in the repository" },
    });
    expect(await git("log", "--format=%s", "main")).toBe("first\n");
  });

  confined("are refused for a branch that another worktree has checked out", async () => {
    const { agent, git, take } = await setUp(async (path, git) => {
      await git("branch", "other");
      await git("worktree", "add", "-q", join(path, "..", "linked"), "other");
    });
    await agent("git branch -f other $(git commit-tree -p HEAD -m x HEAD^{tree})");
    expect((await take()).result).toMatchObject({
      ...{ status: "refused", reason: expect.stringContaining("another worktree") },
    });
    expect(await git("log", "--format=%s", "other")).toBe("first\n");
  });

  confined("come from a linked worktree as well", async () => {
    const { path, git } = await setUp();
    const linked = join(path, "..", "linked");
    await git("worktree", "add", "-q", "-b", "side", linked);
    const { agent, take } = await startAgent(linked, join(path, "..", "private-linked"));
    await agent("echo two >> a.txt; git commit -qam 'in linked'");
    expect((await take()).result).toEqual(DONE);
    expect(await git("log", "--format=%s", "side")).toBe("in linked\nfirst\n");
    expect((await run("git", ["status", "--porcelain"], { cwd: linked })).stdout).toBe("");
  });
});

confined("an agent commits in a submodule, and its superproject sees it", async () => {
  const { path, git } = await setUp();
  await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", path, "sub");
  await git("commit", "-qm", "add sub");
  const submodule = join(path, "sub");
  const { agent, take } = await startAgent(submodule, join(path, "..", "private-sub"));
  await agent("echo two >> a.txt; git commit -qam 'in sub'");
  expect((await take()).result).toEqual(DONE);
  expect((await run("git", ["log", "-1", "--format=%s"], { cwd: submodule })).stdout).toBe("in sub\n");
  expect(await git("status", "--porcelain")).toBe(" M sub\n");
});

describe("a hostile agent", () => {
  confined("plants nothing that the user's git obeys", async () => {
    const { agent, git, take, path, folder } = await setUp();
    const planted = `touch '${path}/pwned'`;
    await agent(
      [
        "echo two >> a.txt; git commit -qam two",
        `git config core.fsmonitor "${planted}; false"; git config core.hooksPath ./h; mkdir h`,
        `printf '#!/bin/sh\\n${planted}\\n' > h/post-checkout; cp h/post-checkout h/reference-transaction; chmod +x h/*`,
        "mkdir evil; echo ./evil > .git/commondir.tmp; git config alias.status '!false'",
      ].join("\n"),
    );
    await writeFile(join(folder, "git", "commondir"), "./evil\n").catch(() => undefined);
    await take().catch(() => undefined);
    await git("status");
    expect(existsSync(join(path, "pwned"))).toBe(false);
    expect(await readFile(join(path, ".git", "config"), "utf8")).not.toContain("fsmonitor");
    expect(existsSync(join(path, ".git", "commondir"))).toBe(false);
  });

  confined("cannot make Flint write through links in the private directory", async () => {
    const { agent, take, path } = await setUp();
    const target = join(path, "..", "target");
    await writeFile(target, "mine");
    await agent("echo two >> a.txt; git commit -qam two");
    await agent(
      `rm -f .git/COMMIT_EDITMSG .git/logs/HEAD; ln -s '${target}' .git/COMMIT_EDITMSG; ln -s '${target}' .git/FETCH_HEAD`,
    );
    await take();
    expect(await readFile(target, "utf8")).toBe("mine");
  });

  confined("cannot make Flint wait for a pipe", async () => {
    const { agent, takeOver, git } = await setUp();
    await agent("echo two >> a.txt; git commit -qam two; rm .git/HEAD; mkfifo .git/HEAD");
    await expect(takeOver.pending()).rejects.toThrow("cannot be read (HEAD is a pipe)");
    expect(await git("log", "--format=%s")).toBe("first\n");
  });

  const HOSTILE_TREES: readonly (readonly [string, string, RegExp])[] = [
    [
      "a tree with a .git folder",
      "printf '100644 blob %s\\t.git' $(git hash-object -w a.txt) | git mktree",
      /hasDotgit|\.git/,
    ],
    [
      "a .gitmodules with a dangerous url",
      "b=$(printf '[submodule \"x\"]\\n path = x\\n url = --upload-pack=touch\\n' | git hash-object -w --stdin); printf '100644 blob %s\\t.gitmodules' $b | git mktree",
      /gitmodules/,
    ],
  ];

  for (const [name, makeTree, reason] of HOSTILE_TREES) {
    confined(`gets ${name} refused by git's own checks`, async () => {
      const { agent, git, offered } = await setUp();
      await agent(`git update-ref refs/heads/main $(git commit-tree -p HEAD -m evil $(${makeTree}))`);
      await expect(offered()).rejects.toThrow(reason);
      expect(await git("log", "--format=%s", "main")).toBe("first\n");
    });
  }

  confined("gets no branch with a name that a shell would run", async () => {
    const { agent, git, take } = await setUp();
    await agent(
      `echo two >> a.txt; git commit -qam two; git branch 'x;touch\${IFS}pwned;#'; git branch ok-1.2`,
    );
    await take();
    expect(await git("branch", "--format=%(refname:short)")).toBe("main\nok-1.2\n");
  });

  confined("is not believed when it does not send what it reports", async () => {
    const { git, path, offered, replaced } = await setUp();
    const pack = `cd '${path}' && git rev-parse HEAD | git pack-objects -q --stdout`;
    await expect(offered(replaced(reporting("1".repeat(40), pack)))).rejects.toThrow(/git \S+ failed/);
    expect(await git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\n");
  });

  confined("is not believed when it leaves out what its commits need", async () => {
    const { git, path, offered, replaced } = await setUp();
    const home = join(path, "..");
    const other: Git = async (...args) => (await run("git", [...WHO, ...args], { cwd: home })).stdout;
    await other("init", "-q", "other");
    await writeFile(join(home, "other", "b.txt"), "b\n");
    await other("-C", "other", "add", ".");
    await other("-C", "other", "commit", "-qm", "cut off");
    const commit = (await other("-C", "other", "rev-parse", "HEAD")).trim();
    const pack = `cd '${home}/other' && echo ${commit} | git pack-objects -q --stdout`;
    await expect(offered(replaced(reporting(commit, pack)))).rejects.toThrow(/git \S+ failed/);
    expect(await git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\n");
  });

  confined("cannot send more than the limit", async () => {
    const { git, path, offered, replaced } = await setUp();
    const large = join(path, "..", "large");
    await run("git", ["init", "-q", large]);
    await writeFile(join(large, "large"), randomBytes(2_000_000));
    const { stdout } = await run("git", ["hash-object", "-w", "large"], { cwd: large });
    const blob = stdout.trim();
    const pack = `cd '${large}' && echo ${blob} | git pack-objects -q --stdout`;
    await expect(offered(replaced(reporting(blob, pack)))).rejects.toThrow(/unpack-objects failed.*size/);
    const endless = "printf 'PACK\\0\\0\\0\\2\\0\\0\\377\\377'; cat /dev/urandom";
    await expect(offered(replaced(reporting("1".repeat(40), endless)))).rejects.toThrow(/index-pack failed/);
    await expect(offered(replaced(reporting("1".repeat(40), "cat /dev/zero")))).rejects.toThrow(
      "did not send",
    );
    await expect(offered(replaced("cat /dev/zero"))).rejects.toThrow("cannot be read");
    expect(await git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\n");
  });
});

test("a folder whose .git is a link is not a repository", async () => {
  const home = await temporaryFolder();
  await mkdir(home.join("real"));
  await mkdir(home.join("work"));
  await run("git", ["init", "-q"], { cwd: home.join("real") });
  await symlink(home.join("real/.git"), home.join("work/.git"));
  expect(
    await findRepository(new GitCommand(home.join("work"), process.env), home.join("work")),
  ).toBeUndefined();
});
