import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { newFolder } from "../sandbox/testing/fixture.ts";
import { CLEAN_TAKE_OVER, newRepository, type UserGit } from "../sandbox/testing/repository.ts";

const confined = needs("bwrap");
const COMMIT = "echo two >> a.txt; git commit -qam two";

/** A file outside of the workspace that exists as soon as something the agent planted was run outside. */
function outsideMark() {
  const mark = join(newFolder(), "ran-outside");
  return { mark, run: `touch ${mark}` };
}

/** Works in a repository as its user. */
async function userWorks(git: UserGit) {
  for (const command of [
    "status",
    "log -1",
    "branch",
    "switch -qc later",
    "commit -q --allow-empty -m later",
    "gc -q",
  ])
    await git(...command.split(" "));
}

describe("what an agent plants in its git directory runs nowhere outside", () => {
  const placeholder = "MARK";
  const EVIL = `mkdir -p evil/refs evil/objects; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "${placeholder}; false"\\n\\thooksPath = %s/h\\n' "$PWD" > evil/config; mkdir -p h; for hook in post-checkout reference-transaction pre-commit post-index-change; do printf '#!/bin/sh\\n${placeholder}\\n' > h/$hook; chmod +x h/$hook; done`;
  const PLANTS: Readonly<Record<string, string>> = {
    "commondir that leads to a folder of its own": `${COMMIT}; ${EVIL}; echo "$PWD/evil" > .git/commondir`,
    "a config.worktree": `${COMMIT}; ${EVIL}; git config extensions.worktreeConfig true; cp evil/config .git/config.worktree`,
    "configuration with programs": `${COMMIT}; ${EVIL}; cat evil/config >> .git/config; git config filter.x.clean '${placeholder}'; git config filter.x.smudge '${placeholder}'; git config diff.external '${placeholder}'; git config uploadpack.packObjectsHook '${placeholder}'; echo '* filter=x' > .git/info/attributes`,
    hooks: `${COMMIT}; ${EVIL}; rm -rf .git/hooks; cp -r h .git/hooks`,
    "a rebase that runs programs": `${COMMIT}; mkdir .git/rebase-merge; echo 'exec ${placeholder}' > .git/rebase-merge/git-rebase-todo; echo refs/heads/main > .git/rebase-merge/head-name; git rev-parse HEAD > .git/rebase-merge/onto`,
    "a branch named like a command": `${COMMIT}; git branch 'x;${placeholder.replaceAll(" ", "$" + "{IFS}")};#'; git symbolic-ref HEAD 'refs/heads/x;${placeholder};#' || true`,
    "a .git in a subfolder": `${COMMIT}; mkdir sub; cp -r .git sub/.git; printf '[core]\\n\\tfsmonitor = "${placeholder}; false"\\n' >> sub/.git/config; git add a.txt`,
  };

  for (const [plant, script] of Object.entries(PLANTS)) {
    confined(plant, async () => {
      const { mark, run } = outsideMark();
      const { agent, sandbox, scope, git, path } = await newRepository();
      const before = await readFile(join(path, ".git/config"), "utf8");
      await agent(script.replaceAll("MARK", run));
      const offer = await sandbox.commits(scope.id).catch(() => undefined);
      await offer?.accept();
      await sandbox.refreshScope(scope.id);
      await userWorks(git);
      expect(existsSync(mark)).toBe(false);
      expect(await readFile(join(path, ".git/config"), "utf8")).toBe(before);
      for (const name of ["commondir", "config.worktree", "rebase-merge", "info/grafts"])
        expect(existsSync(join(path, ".git", name))).toBe(false);
    });
  }
});

describe("what the settings of a repository name runs nowhere outside", () => {
  /** A program that leaves a mark, and a repository with one commit of an agent. */
  async function hostileRepository() {
    const folder = newFolder();
    const mark = join(folder, "ran-outside");
    const program = join(folder, "program");
    await writeFile(program, `#!/bin/sh\ntouch ${mark}\n`);
    await chmod(program, 0o755);
    const repository = await newRepository();
    await repository.agent(COMMIT);
    return { ...repository, mark, program };
  }

  confined("as the command that lists borrowed commits", async () => {
    const { mark, program, git, path, sandbox, scope } = await hostileRepository();
    const other = join(newFolder(), "other.git");
    await git("clone", "-q", "--bare", path, other);
    await mkdir(join(path, ".git/objects/info"), { recursive: true });
    await writeFile(join(path, ".git/objects/info/alternates"), `${other}/objects\n`);
    await git("config", "core.alternateRefsCommand", program);
    const offer = await sandbox.commits(scope.id);
    expect(await offer?.accept()).toEqual({ notes: [] });
    expect(existsSync(mark)).toBe(false);
  });

  confined("as a remote that is a command, in place of a path", async () => {
    const { mark, program, git, path, sandbox, scope } = await hostileRepository();
    await git("config", "protocol.ext.allow", "always");
    await git("config", `url.ext::${program} .insteadOf`, path);
    const offer = await sandbox.commits(scope.id);
    expect(await offer?.accept()).toEqual({ notes: [] });
    expect(existsSync(mark)).toBe(false);
  });
});

describe("links and pipes in its git directory", () => {
  for (const name of [
    "COMMIT_EDITMSG",
    "index",
    "logs/HEAD",
    "packed-refs",
    "config",
    "HEAD",
    "FETCH_HEAD",
    "shallow",
  ]) {
    for (const kind of ["a link", "a pipe"]) {
      confined(`as ${name}: ${kind} is neither followed nor waited for`, async () => {
        const { agent, attempt, sandbox, scope, git, path } = await newRepository();
        const target = join(path, "..", "target");
        await writeFile(target, "mine");
        await agent(COMMIT);
        const make = kind === "a link" ? `ln -s '${target}'` : "mkfifo";
        await attempt(`mkdir -p .git/logs; rm -rf .git/${name}; ${make} .git/${name}`);
        const isRefused = kind === "a pipe" && !["COMMIT_EDITMSG", "FETCH_HEAD", "logs/HEAD"].includes(name);
        if (isRefused)
          await expect(sandbox.commits(scope.id)).rejects.toThrow(
            `The agent's copy of .git cannot be read (${name} is a pipe); its commits stay there.`,
          );
        else await (await sandbox.commits(scope.id).catch(() => undefined))?.accept();
        await git("commit", "-q", "--allow-empty", "-m", "mine");
        await sandbox.refreshScope(scope.id);
        expect(await readFile(target, "utf8")).toBe("mine");
        expect((await lstat(join(path, ".git", "HEAD"))).isFile()).toBe(true);
        expect((await git("log", "-1", "--format=%s")).trim()).toBe("mine");
      });
    }
  }

  confined("as a branch: a pipe is waited for until the time limit, and the message says so", async () => {
    const { agent, sandbox, scope, git } = await newRepository();
    await agent(`${COMMIT}; mkfifo .git/refs/heads/pipe`);
    await expect(sandbox.commits(scope.id)).rejects.toThrow(
      "The agent's copy of .git cannot be read (git failed or did not finish in time); its commits stay there.",
    );
    expect(await git("log", "--format=%s")).toBe("first\n");
  });

  confined("as objects: what they lead to is not read for the agent", async () => {
    const secret = newFolder();
    await chmod(secret, 0o700);
    const { agent, sandbox, scope, git } = await newRepository();
    await agent(`${COMMIT}; rm -rf .git/objects; ln -s ${secret} .git/objects`);
    await expect(sandbox.commits(scope.id)).rejects.toThrow(/stay|failed/);
    expect(await git("log", "--format=%s")).toBe("first\n");
  });

  confined("as config: a file that it cannot read is not copied for it", async () => {
    const { agent, attempt, git, home } = await newRepository();
    await agent("git status");
    await writeFile(join(home, "state", "secret"), "[my]\n\tsecret = yes\n");
    await attempt(`rm .git/config; ln -s ${join(home, "state", "secret")} .git/config`);
    await git("commit", "-q", "--allow-empty", "-m", "mine");
    await attempt("git status");
    const config = join(home, "state", "git", "t1", "0", "git", "config");
    expect((await lstat(config)).isFile()).toBe(true);
    expect(await readFile(config, "utf8")).not.toContain("secret");
  });
});

describe("objects", () => {
  confined("that replace others, or cut history off, change nothing for the user", async () => {
    const { agent, take, git } = await newRepository();
    await agent(
      [
        COMMIT,
        "git replace HEAD $(git commit-tree -m replaced HEAD^{tree}); git notes add -m note HEAD",
        "git rev-parse HEAD > .git/info/grafts",
      ].join("\n"),
    );
    const taken = await take().catch((error: unknown) => String(error));
    expect(await git("for-each-ref", "refs/replace", "refs/notes")).toBe("");
    expect(["two\nfirst\n", "first\n"]).toContain(await git("log", "--format=%s"));
    expect(taken).toBeDefined();
    await git("fsck", "--connectivity-only");
  });

  confined("borrowed from elsewhere come only as far as the agent could read them", async () => {
    const { agent, take, git, path } = await newRepository({
      prepare: async (path, git) =>
        void (await git("clone", "-q", "--bare", ".", join(path, "..", "other.git"))),
    });
    const other = join(path, "..", "other.git");
    await git("--git-dir", other, "update-ref", "refs/heads/x", "main");
    await agent(
      `echo ${other}/objects >> .git/objects/info/alternates; echo /root >> .git/objects/info/alternates; ${COMMIT}`,
    );
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(existsSync(join(path, ".git/objects/info/alternates"))).toBe(false);
    await git("fsck", "--connectivity-only");
  });

  confined("of thousands of branches are refused, and the message says so", async () => {
    const { agent, sandbox, scope, git } = await newRepository();
    await agent(
      'h=$(git rev-parse HEAD); seq 1 6000 | sed "s,.*,create refs/heads/b/& $h," | git update-ref --stdin',
    );
    await expect(sandbox.commits(scope.id)).rejects.toThrow(/6000 branches and tags.*at most 5000/);
    expect(await git("branch", "--format=x")).toBe("x\n");
  });
});

confined("a .git that the user replaces while the agent works is not changed", async () => {
  const { agent, sandbox, scope, path, git } = await newRepository();
  await agent(COMMIT);
  await rename(join(path, ".git"), join(path, "..", "old.git"));
  await writeFile(join(path, ".git"), `gitdir: ${join(path, "..", "other.git")}\n`);
  await mkdir(join(path, "..", "other.git"));
  const offer = await sandbox.commits(scope.id).catch(() => undefined);
  const taken = await offer?.accept().catch(() => undefined);
  expect(taken?.notes ?? []).toEqual([]);
  expect(await readdir(join(path, "..", "other.git"))).toEqual([]);
  expect(await git("--git-dir", "../old.git", "log", "--format=%s")).toBe("first\n");
});
