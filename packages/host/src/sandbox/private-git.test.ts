import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeEachMechanism } from "@flint/testkit";
import { expect } from "vitest";
import { agentIn, CLEAN_TAKE_OVER, newRepository } from "./testing/repository.ts";

describeEachMechanism("a command in a repository, with %s", (mechanism, test) => {
  test("commits in its thread's git directory, and its commits are applied on request", async () => {
    const { git, agent, offered, sandbox, scope } = await newRepository({ mechanism });
    await agent("echo two >> a.txt; git commit -qam two");
    expect(await agent("git log --format=%s")).toBe("two\nfirst\n");
    expect(await git("log", "--format=%s")).toBe("first\n");
    const offer = await offered();
    expect(offer.refs).toMatchObject([{ name: "refs/heads/main", total: 1, commits: [{ title: "two" }] }]);
    expect(await offer.accept()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
    expect(await git("status", "--porcelain")).toBe("");
    expect(await sandbox.commits(scope.id)).toBeUndefined();
  });

  test("changes nothing of the user's git directory, whatever it writes into its own", async () => {
    const { agent, path, git } = await newRepository({ mechanism });
    const config = await readFile(join(path, ".git/config"), "utf8");
    await agent("git config core.fsmonitor 'touch /tmp/x'; echo ./evil > .git/commondir.x; ls .git/objects");
    expect(await readFile(join(path, ".git/config"), "utf8")).toBe(config);
    expect(await git("status", "--porcelain")).toBe("");
  });

  test("cannot commit in a thread without its own git directory, or under a read-only policy", async () => {
    const { attempt, scope } = await newRepository({ mechanism });
    const commit = "git commit -q --allow-empty -m x";
    for (const options of [{}, { scope, policy: { type: "readOnly" } as const }]) {
      expect(await attempt(commit, options)).toMatchObject({
        ...{ exitCode: 128, output: expect.stringContaining("Read-only file system") },
      });
    }
  });

  test("cannot commit to a repository above its workspace", async () => {
    const { attempt, git } = await newRepository({
      mechanism,
      prepare: async (path) => {
        await mkdir(join(path, "sub"));
        return join(path, "sub");
      },
    });
    const { exitCode, output } = await attempt("echo x > x; git status -s; git add x");
    expect({ exitCode, output }).toMatchObject({
      ...{ exitCode: 128, output: expect.stringMatching(/\?\? \.\/[\s\S]*Read-only file system/) },
    });
    expect(await git("status", "-s")).toBe("?? sub/\n");
  });

  test("sees what the user committed and staged since its last command", async () => {
    const { git, agent, path } = await newRepository({ mechanism });
    await agent("git status");
    await writeFile(join(path, "b.txt"), "mine\n");
    await git("add", ".");
    await git("commit", "-qm", "mine");
    await writeFile(join(path, "c.txt"), "staged\n");
    await git("add", ".");
    expect(await agent("git log --format=%s; git status --porcelain")).toBe("mine\nfirst\nA  c.txt\n");
  });

  test("names the protected files that git left as they were, even if git succeeds", async () => {
    const { attempt, path } = await newRepository({
      mechanism,
      prepare: async (path, git) => {
        await mkdir(join(path, ".vscode"));
        await writeFile(join(path, ".vscode/settings.json"), "old\n");
        await git("add", ".");
        await git("commit", "-qm", "settings");
        await git("switch", "-qc", "other");
        await writeFile(join(path, ".vscode/settings.json"), "new\n");
        await git("commit", "-qam", "other");
        await git("switch", "-qc", "third");
        await writeFile(join(path, ".npmrc"), "new\n");
        await git("add", ".");
        await git("commit", "-qm", "third");
        return void (await git("switch", "-q", "main"));
      },
    });
    const kept = (file: string) =>
      `The sandbox keeps ${join(path, file)} from being changed, because its name is protected.`;
    const left = `${kept(".vscode/settings.json")} It is not as in the commit that git has checked out, so do not commit it.`;
    expect(await attempt("git switch -q other")).toMatchObject({
      exitCode: 0,
      denials: [{ evidence: left }],
    });
    expect(await attempt("git switch -q third")).toMatchObject({ denials: [{ evidence: kept(".npmrc") }] });
  });

  test("works in the linked worktree that is its workspace", async () => {
    const { agent, take, git, workspace } = await newRepository({
      mechanism,
      prepare: async (path, git) => {
        await git("worktree", "add", "-q", "-b", "side", join(path, "..", "linked"));
        return join(path, "..", "linked");
      },
    });
    await agent("echo two >> a.txt; git commit -qam 'in linked'");
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s", "side")).toBe("in linked\nfirst\n");
    expect(await git("-C", workspace, "status", "--porcelain")).toBe("");
  });
});

describeEachMechanism("two threads in one repository, with %s", (mechanism, test) => {
  test("commit separately, and their commits are applied one after the other", async () => {
    const { git, sandbox, path, agent, take } = await newRepository({ mechanism });
    const other = agentIn(sandbox, path, "t2");
    await Promise.all([
      agent("echo two > b.txt; git add b.txt; git commit -qm one"),
      other.agent("git switch -qc side; echo three > c.txt; git add c.txt; git commit -qm other"),
    ]);
    expect(await agent("git log --format=%s")).toBe("one\nfirst\n");
    expect(await other.agent("git log --format=%s")).toBe("other\nfirst\n");
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await other.take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s", "main")).toBe("one\nfirst\n");
    expect(await git("log", "--format=%s", "side")).toBe("other\nfirst\n");
  });
});
