import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { agentIn, CLEAN_TAKE_OVER, newRepository } from "../sandbox/testing/repository.ts";

const confined = needs("bwrap");

/** Commits as the user, to a file that agents do not touch. */
async function userCommits({ path, git }: Pick<Awaited<ReturnType<typeof newRepository>>, "path" | "git">) {
  await writeFile(join(path, "mine.txt"), "mine\n");
  await git("add", "mine.txt");
  await git("commit", "-qm", "mine");
}

describe("commits that were declined", () => {
  confined("are not offered again, and the user can take them over later as printed", async () => {
    const { agent, offered, sandbox, scope, git } = await newRepository();
    await agent("echo two >> a.txt; git commit -qam two");
    expect(await (await offered()).decline()).toBe(
      "To apply them later:\ngit merge refs/flint/in/t1/heads/main",
    );
    await agent("git status");
    expect(await sandbox.commits(scope.id)).toBeUndefined();
    await git("checkout", "-q", "--", "a.txt");
    await git("merge", "-q", "refs/flint/in/t1/heads/main");
    expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
    expect(await agent("git status -sb")).toBe("## main\n");
    expect(await sandbox.commits(scope.id)).toBeUndefined();
  });

  confined("are offered again together with new ones", async () => {
    const { agent, offered } = await newRepository();
    await agent("echo two >> a.txt; git commit -qam two");
    await (await offered()).decline();
    await agent("echo three >> a.txt; git commit -qam three");
    const again = await offered();
    expect(again.refs).toMatchObject([{ total: 2, commits: [{ title: "three" }, { title: "two" }] }]);
    expect(await again.accept()).toEqual(CLEAN_TAKE_OVER);
  });

  confined("survive the end of the thread and of the server", async () => {
    const { agent, offered, sandbox, scope, start, workspace } = await newRepository();
    await agent("git switch -qc topic; echo two >> a.txt; git commit -qam two; git config my.setting kept");
    await (await offered()).decline();
    await sandbox.closeScope(scope.id);
    const later = agentIn(start(), workspace);
    expect(await later.agent("git log --format=%s; git config my.setting")).toBe("two\nfirst\nkept\n");
    expect(await later.sandbox.commits(scope.id)).toBeUndefined();
    await later.agent("git commit -q --allow-empty -m three");
    expect((await later.offered()).refs).toMatchObject([
      { name: "refs/heads/topic", total: 2 },
      { change: "switched" },
    ]);
  });
});

describe("commits of the user in the meantime", () => {
  confined("keep those of the agent from moving anything, and it is printed how to merge them", async () => {
    const repository = await newRepository();
    const { agent, offered, git } = repository;
    await agent("echo two >> a.txt; git commit -qam agents");
    const offer = await offered();
    await userCommits(repository);
    expect(await offer.accept()).toEqual({
      refused: expect.stringContaining("refs/heads/main"),
      notes: ["To apply them later:\ngit merge refs/flint/in/t1/heads/main"],
    });
    expect(await git("log", "--format=%s")).toBe("mine\nfirst\n");
    expect(await git("log", "--format=%s", "refs/flint/in/t1/heads/main")).toBe("agents\nfirst\n");
  });

  confined("are looked at again before anything is offered", async () => {
    const { agent, offered, git } = await newRepository();
    await agent("git branch topic; git commit -q --allow-empty -m agents");
    await git("branch", "topic");
    expect((await offered()).refs).toMatchObject([
      { name: "refs/heads/main", commits: [{ title: "agents" }] },
    ]);
  });

  confined("are seen by the agent, which can merge them, and then its commits are applied", async () => {
    const repository = await newRepository();
    const { agent, take, git, sandbox, scope } = repository;
    await agent("echo two >> a.txt; git commit -qam agents");
    await userCommits(repository);
    expect(await take()).toMatchObject({ refused: expect.any(String) });
    await sandbox.refreshScope(scope.id);
    // The user's file is in the worktree already, where git would not overwrite it.
    await agent("rm mine.txt; git merge -q -m merged refs/flint/user/heads/main");
    expect(await take()).toMatchObject({ notes: [] });
    expect(await git("log", "--first-parent", "--format=%s")).toBe("merged\nagents\nfirst\n");
    expect(await git("status", "--porcelain")).toBe("");
  });

  confined("do not cost the agent what it has on another branch, or has staged", async () => {
    const repository = await newRepository();
    const { agent, git, take } = repository;
    await agent("git branch topic $(git commit-tree -p HEAD -m topic HEAD^{tree}); echo x > x; git add x");
    await userCommits(repository);
    await git("branch", "users");
    expect(
      await agent(
        "git log --format=%s main; git log -1 --format=%s topic; git status -s; git branch --list users",
      ),
    ).toBe("mine\nfirst\ntopic\nA  x\n  users\n");
    expect(await take()).toMatchObject({ notes: [] });
    expect(await git("branch", "--format=%(refname:short)")).toBe("main\ntopic\nusers\n");
    expect(await git("log", "--format=%s", "main")).toBe("mine\nfirst\n");
  });

  confined("reach a program that runs all the time", async () => {
    const repository = await newRepository();
    const { sandbox, scope, agent, workspace } = repository;
    await agent("git status");
    const running = agentIn(sandbox, workspace).attempt(
      "touch up; while [ ! -e go ]; do sleep 0.05; done; rm up go; git log --format=%s; git status -s",
    );
    while ((await agent("ls")).includes("up\n") === false);
    await userCommits(repository);
    await sandbox.refreshScope(scope.id);
    await writeFile(join(workspace, "go"), "");
    expect((await running).output).toBe("mine\nfirst\n");
  });
});

describe("what is offered", () => {
  confined("has a diff for a new branch and for a detached HEAD", async () => {
    const { agent, offered, take, git } = await newRepository();
    await agent("git switch -qc topic; echo two > b.txt; git add .; git commit -qm two");
    expect((await offered()).diff).toContain("+two");
    await take();
    await agent("git switch -q --detach; echo three > c.txt; git add .; git commit -qm three");
    const offer = await offered();
    expect(offer.refs).toMatchObject([{ name: "HEAD", change: "switched", total: 1 }]);
    expect(offer.diff).toContain("+three");
    expect(await offer.accept()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "-1", "--format=%s")).toBe("three\n");
    expect(await git("symbolic-ref", "-q", "HEAD").catch(() => "detached")).toBe("detached");
  });

  confined("says which branches are deleted or lose commits", async () => {
    const { agent, offered, git } = await newRepository({
      prepare: async (_path, git) => {
        await git("branch", "old");
        await git("commit", "-q", "--allow-empty", "-m", "second");
      },
    });
    await agent("git branch -D -q old; git commit -q --amend --allow-empty -m rewritten");
    const offer = await offered();
    expect(offer.refs).toMatchObject([
      { name: "refs/heads/main", change: "forced", commits: [{ title: "rewritten" }] },
      { name: "refs/heads/old", change: "deleted" },
    ]);
    expect(await git("log", "--format=%s")).toBe("second\nfirst\n");
    expect(await offer.accept()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s")).toBe("rewritten\nfirst\n");
  });

  confined("waits while a merge has conflicts, and says so once", async () => {
    const { agent, attempt, offered, sandbox, scope, git, take, path } = await newRepository();
    await agent("git switch -qc topic; echo theirs > a.txt; git commit -qam theirs; git switch -q main");
    await agent("echo ours > a.txt; git commit -qam ours");
    expect((await attempt("git merge topic")).exitCode).toBe(1);
    expect(await offered()).toMatchObject({ blocked: "a merge is not finished in the agent's copy of .git" });
    expect(await sandbox.commits(scope.id)).toBeUndefined();
    expect(await git("log", "--format=%s")).toBe("first\n");
    expect(await git("ls-files", "-u")).toBe("");
    await userCommits({ path, git });
    expect(await agent("git status -s a.txt")).toBe("UU a.txt\n");
    await git("reset", "-q", "--soft", "HEAD~1");
    await git("restore", "--staged", "mine.txt");
    await agent("echo both > a.txt; git add a.txt; git commit -qm merged");
    expect(await take()).toMatchObject({ notes: expect.any(Array) });
    expect(await git("log", "--first-parent", "--format=%s")).toBe("merged\nours\nfirst\n");
  });

  confined("includes every entry of the stash, and drops none of the user", async () => {
    const { agent, take, git } = await newRepository({
      prepare: async (path, git) => {
        await writeFile(join(path, "a.txt"), "user\n");
        await git("stash", "push", "-qm", "users");
      },
    });
    await agent(
      "git stash drop -q; echo 1 > a.txt; git stash push -qm s1; echo 2 > a.txt; git stash push -qm s2",
    );
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("stash", "list", "--format=%gs")).toBe("On main: s2\nOn main: s1\nOn main: users\n");
    expect(await git("stash", "show", "-p", "stash@{1}")).toContain("+1");
  });
});
