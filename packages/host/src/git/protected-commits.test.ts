import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { newRepository } from "../sandbox/testing/repository.ts";

const confined = needs("bwrap");

/** Puts a file into the index without the worktree, in which the sandbox keeps the name read-only. */
const stage = (path: string) =>
  `git update-index --add --cacheinfo 100755,$(echo planted | git hash-object -w --stdin),${path}`;
const commit = (message = "tidy up") => `git commit -qm '${message}'`;
/** Changes of an agent, and the protected files that are named when they are offered. */
const PLANTS: readonly (readonly [string, string, readonly string[]])[] = [
  ["in a commit", `${stage(".husky/pre-commit")}; ${stage("b.txt")}; ${commit()}`, [".husky/pre-commit"]],
  ["in another letter case", `${stage(".VSCode/tasks.json")}; ${commit()}`, [".VSCode/tasks.json"]],
  [
    "in a new branch without history",
    `git switch -q --orphan new; ${stage(".npmrc")}; ${commit()}; git switch -qf main`,
    [".npmrc"],
  ],
  ["in a tag", `${stage(".npmrc")}; ${commit()}; git tag v1; git reset -q HEAD~`, [".npmrc"]],
  [
    "in a tag of files without a commit",
    `${stage(".npmrc")}; git tag v1 $(git write-tree); git read-tree HEAD`,
    [".npmrc"],
  ],
  ["in a detached HEAD", `git switch -q --detach; ${stage(".envrc")}; ${commit()}`, [".envrc"]],
  ["in the stash", `${stage(".claude/settings.json")}; git stash -q`, [".claude/settings.json"]],
  ["in the index", `git commit -q --allow-empty -m x; ${stage("opencode.json")}`, ["opencode.json"]],
  [
    "in a merge alone",
    `git switch -qc side; git commit -q --allow-empty -m x; git switch -q main; git merge -q --no-ff --no-commit side; ${stage(".npmrc")}; ${commit()}`,
    [".npmrc"],
  ],
  [
    "in a commit that a later one undoes",
    `${stage(".npmrc")}; ${commit()}; git rm -q --cached .npmrc; ${commit()}`,
    [".npmrc"],
  ],
  ["nowhere but in a subfolder", `${stage("sub/.vscode/tasks.json")}; ${commit()}`, []],
  ["nowhere", `${stage("vscode/tasks.json")}; ${commit()}`, []],
];

describe("a protected name is found", () => {
  for (const [where, script, found] of PLANTS) {
    confined(where, async () => {
      const { agent, offered } = await newRepository();
      await agent(script);
      expect((await offered()).protectedPaths).toEqual(found);
    });
  }

  /** A commit with these parents, in which `.npmrc` is as it was in another one. */
  const mixed = (parents: string, old = "main~1") =>
    `$(git read-tree main; git update-index --cacheinfo 100644,$(git rev-parse ${old}:.npmrc),.npmrc; git commit-tree -m tidy ${parents} $(git write-tree); git read-tree main)`;
  const move = (commit: string) => `git update-ref refs/heads/main ${commit}; git read-tree main`;
  const child = "$(git commit-tree -m x -p main~1 main~1^{tree})";
  const untouched = (parents: string) => `$(git commit-tree -m x ${parents} main^{tree})`;
  const MERGES: readonly (readonly [string, string, readonly string[]])[] = [
    ["a merge that takes back a change", move(mixed("-p main -p main~1")), [".npmrc"]],
    ["a merge that takes it back by a commit of its own", move(mixed(`-p main -p ${child}`)), [".npmrc"]],
    ["a merge of three that takes it back", move(mixed(`-p main -p main~1 -p ${child}`)), [".npmrc"]],
    ["a stash that takes it back", `git stash store -m x ${mixed("-p main -p main~1")}`, [".npmrc"]],
    ["a merge as git makes it", `git branch side ${untouched(`-p ${child} -p main`)}`, []],
    ["a stash with new files", "echo x > new; git stash -qu -- new", []],
  ];
  for (const [which, script, found] of MERGES)
    confined(`${found.length === 0 ? "nowhere in" : "in"} ${which}`, async () => {
      const { agent, offered } = await newRepository({
        prepare: async (path, git) => {
          for (const value of ["false", "true"]) {
            await writeFile(join(path, ".npmrc"), `ignore-scripts=${value}\n`);
            await git("add", ".npmrc");
            await git("commit", "-qm", value);
          }
          return undefined;
        },
      });
      await agent(script);
      expect((await offered()).protectedPaths).toEqual(found);
    });

  confined("in a commit that the user has moved back from, below those of the agent", async () => {
    const { agent, offered, git } = await newRepository({
      prepare: async (path, git) => {
        await writeFile(join(path, ".npmrc"), "ignore-scripts=false\n");
        await git("add", ".npmrc");
        return void (await git("commit", "-qm", "second"));
      },
    });
    await agent("echo x > b.txt; git add b.txt; git commit -qm third");
    await git("reset", "-q", "--hard", "main~1");
    await git("commit", "-q", "--allow-empty", "-m", "other");
    expect((await offered()).protectedPaths).toEqual([".npmrc"]);
  });

  confined("and its commits are shown, whatever encoding the settings of the repository name", async () => {
    for (const encoding of ["UTF-16LE", "IBM1047"]) {
      const { agent, offered } = await newRepository({
        prepare: async (_path, git) => void (await git("config", "i18n.logOutputEncoding", encoding)),
      });
      await agent(`${stage(".npmrc")}; ${commit()}`);
      expect(await offered()).toMatchObject({
        protectedPaths: [".npmrc"],
        refs: [{ commits: [{ title: "tidy up" }], total: 1 }],
      });
    }
  });

  confined("in the hooks and programs that the settings of the repository name", async () => {
    const { agent, offered } = await newRepository({
      prepare: async (_path, git) => {
        await git("config", "core.hooksPath", ".githooks");
        return void (await git("config", "diff.external", "./tools/show.sh tools"));
      },
    });
    const planted = [".githooks/pre-commit", "tools/show.sh", "tools/other.sh"].map(stage);
    await agent(`${planted.join("; ")}; git -c core.hooksPath=/dev/null ${commit().slice("git ".length)}`);
    expect((await offered()).protectedPaths).toEqual([".githooks/pre-commit", "tools/show.sh"]);
  });

  confined("in a branch of a remote, once one of the user's own branches gets it", async () => {
    const { agent, offered, take } = await newRepository({
      prepare: async (path, git) => {
        await git("switch", "-qc", "dev");
        await writeFile(join(path, ".npmrc"), "ignore-scripts=false\n");
        await git("add", ".npmrc");
        await git("commit", "-qm", "dev");
        await git("update-ref", "refs/remotes/origin/dev", "dev");
        await git("switch", "-q", "main");
        return void (await git("branch", "-qD", "dev"));
      },
    });
    await agent("git update-ref refs/remotes/origin/other origin/dev");
    expect((await offered()).protectedPaths).toEqual([]);
    await take();
    await agent("git branch -q --no-track dev origin/dev");
    expect((await offered()).protectedPaths).toEqual([".npmrc"]);
  });
});
