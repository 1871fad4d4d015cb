import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CLEAN_TAKE_OVER, newRepository, userGit } from "../sandbox/testing/repository.ts";

const confined = needs("bwrap");
const COMMIT = "echo two >> a.txt; git commit -qam two";

describe("an agent commits, and its commits are applied", () => {
  confined("in a repository without any commit", async () => {
    const { agent, take, git } = await newRepository({
      prepare: async (path) => {
        const empty = join(path, "..", "empty");
        await mkdir(empty);
        await userGit(empty)("init", "-q", "-b", "main");
        return empty;
      },
    });
    await agent("echo one > x; git add x; git commit -qm begin");
    expect(await take()).toMatchObject({ notes: [] });
    expect(await git("-C", "../empty", "log", "--format=%s")).toBe("begin\n");
    expect(await git("-C", "../empty", "status", "-s")).toBe("");
  });

  confined("on a detached HEAD", async () => {
    const { agent, take, git } = await newRepository({
      prepare: async (_path, git) => void (await git("switch", "-q", "--detach")),
    });
    await agent(COMMIT);
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
    expect(await git("log", "--format=%s", "main")).toBe("first\n");
    expect(await git("status", "-s")).toBe("");
  });

  confined("in a SHA-256 repository", async () => {
    const { agent, take, git } = await newRepository({ init: ["--object-format=sha256"] });
    await agent(`${COMMIT}; echo 1 > a.txt; git stash -q`);
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
    expect((await git("rev-parse", "HEAD")).trim()).toHaveLength(64);
  });

  for (const [kind, options] of [
    ["a shallow clone", ["--depth=1"]],
    ["a partial clone", ["--filter=blob:none"]],
    ["a clone that borrows its objects", ["--shared"]],
    ["a sparse checkout", ["--sparse"]],
  ] as const) {
    confined(`in ${kind}`, async () => {
      const { agent, take, workspace } = await newRepository({
        prepare: async (path, git) => {
          await git("config", "uploadpack.allowFilter", "true");
          await mkdir(join(path, "folder"));
          await writeFile(join(path, "folder", "b.txt"), "b\n");
          await git("add", ".");
          await git("commit", "-qm", "second");
          const source = kind.includes("borrows") ? path : `file://${path}`;
          await git("clone", "-q", ...options, source, "../clone");
          return join(path, "..", "clone");
        },
      });
      expect(await agent("git status -s")).toBe("");
      await agent(COMMIT);
      expect(await take()).toEqual(CLEAN_TAKE_OVER);
      const git = userGit(workspace);
      expect(await git("log", "-2", "--format=%s")).toBe("two\nsecond\n");
      expect(await git("status", "-s")).toBe("");
      expect(existsSync(join(workspace, "folder"))).toBe(!kind.includes("sparse"));
      await git("fsck", "--connectivity-only");
    });
  }

  confined("with 2,000 refs, packed or not", async () => {
    const { agent, take, git } = await newRepository({
      prepare: async (path, git) => {
        const head = (await git("rev-parse", "HEAD")).trim();
        for (const name of ["packed", "loose"]) {
          const rows = Array.from({ length: 1000 }, (_, at) => `create refs/heads/${name}/${at} ${head}`);
          const file = `../${name}.refs`;
          await writeFile(join(path, file), `${rows.join("\n")}\n`);
          await git("-c", `alias.load=!git update-ref --stdin < ${file}`, "load");
          if (name === "packed") await git("pack-refs", "--all");
        }
      },
    });
    await agent(`${COMMIT}; git branch -f loose/7 main; git branch -D -q packed/7`);
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "-1", "--format=%s", "loose/7")).toBe("two\n");
    expect((await git("for-each-ref", "--format=x")).length).toBe(2 * 2000);
  });

  confined("after gc, cherry-pick, an interactive rebase, and in its own worktree", async () => {
    const { agent, take, git, path } = await newRepository();
    await agent(
      [
        "git switch -qc topic; for n in 1 2 3; do echo $n > $n; git add .; git commit -qm $n; done",
        "GIT_SEQUENCE_EDITOR='sed -i 2d' git rebase -q -i main",
        "git switch -q main; git cherry-pick topic >/dev/null; git tag -a -m v1 v1; git gc -q",
        "git worktree add -q -b inner wt main; cd wt; echo w > w; git add w; git commit -qm inner",
      ].join("\n"),
    );
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s", "main")).toBe("3\nfirst\n");
    expect(await git("log", "--format=%s", "topic")).toBe("3\n1\nfirst\n");
    expect(await git("log", "-1", "--format=%s", "inner")).toBe("inner\n");
    expect(await git("cat-file", "-t", "v1")).toBe("tag\n");
    expect(await agent("cd wt; git log -1 --format=%s")).toBe("inner\n");
    expect(existsSync(join(path, "wt", "w"))).toBe(true);
  });

  confined("in a submodule and in what contains it, at once", async () => {
    const { agent, offered, git } = await newRepository({
      prepare: async (path, git) => {
        await git("clone", "-q", ".", "../library");
        await git("submodule", "--quiet", "add", join(path, "..", "library"), "lib");
        await git("commit", "-qm", "with library");
      },
    });
    await agent(
      "cd lib; git switch -qc work; echo x > x; git add x; git commit -qm inner; cd ..; git add lib; git commit -qm outer",
    );
    const offer = await offered();
    expect(offer.refs).toMatchObject([
      { submodule: "lib", name: "refs/heads/work", commits: [{ title: "inner" }] },
      { submodule: "lib", change: "switched" },
      { name: "refs/heads/main", commits: [{ title: "outer" }] },
    ]);
    expect(await offer.accept()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("-C", "lib", "log", "-1", "--format=%s")).toBe("inner\n");
    expect(await git("status", "-s")).toBe("");
    expect(await git("submodule", "status")).toMatch(/^ [0-9a-f]{40} lib \(.*work\)\n$/);
  });

  confined("with the hooks of the repository, which run inside", async () => {
    const { agent, take, git, path } = await newRepository({
      prepare: async (path) => {
        const hook = "#!/bin/sh\ntouch hook-ran /var/tmp/flint-hook-outside; true\n";
        await writeFile(join(path, ".git/hooks/pre-commit"), hook, { mode: 0o755 });
      },
    });
    await agent(COMMIT);
    expect(existsSync(join(path, "hook-ran"))).toBe(true);
    expect(existsSync("/var/tmp/flint-hook-outside")).toBe(false);
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "-1", "--format=%s")).toBe("two\n");
  });
});

describe("objects of Git LFS", () => {
  confined("are copied if they are what they are named, and nothing else is", async () => {
    const good = createHash("sha256").update("large\n").digest("hex");
    const [bad, link, pipe] = ["a", "b", "c"].map((letter) => letter.repeat(64));
    const { agent, take, path } = await newRepository();
    const place = (id = "") => `.git/lfs/objects/${id.slice(0, 2)}/${id.slice(2, 4)}`;
    await agent(
      [
        ...[good, bad, link, pipe].map((id) => `mkdir -p ${place(id)}`),
        `echo large > ${place(good)}/${good}; echo other > ${place(bad)}/${bad}`,
        `ln -s /etc/passwd ${place(link)}/${link}; mkfifo ${place(pipe)}/${pipe}`,
        COMMIT,
      ].join("\n"),
    );
    expect(await take()).toEqual({
      notes: ["3 objects of Git LFS were left out: they are not what they are named."],
    });
    expect(await readFile(join(path, place(good), good), "utf8")).toBe("large\n");
    for (const id of [bad, link, pipe]) expect(existsSync(join(path, place(id), String(id)))).toBe(false);
  });
});
