import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { gitOverrides, gitSteering } from "../steering/index.ts";
import { mergeResult } from "./merge.ts";
import {
  commitWork,
  mergeOf,
  NAME,
  type RepositoryFixture,
  SANDBOX,
  setUpRepository,
  TRUSTED,
} from "./testing/worktree-fixture.ts";
import { Worktrees } from "./worktrees.ts";

const confined = needs("bwrap");
const run = promisify(execFile);
const WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];

/** Returns the variables for a user who trusts nothing. */
async function gitVariables(cwd: string) {
  return gitOverrides((await gitSteering(cwd))?.settings ?? []);
}

/** Commits a smudge filter of the repository itself, which runs this script for `z.txt` and keeps the file as it is. */
async function commitFilter({ cwd, git }: RepositoryFixture, script: string) {
  await writeFile(join(cwd, "0.sh"), `#!/bin/sh\n(\n${script}\n) > /dev/null 2>&1 < /dev/null\ncat\n`, {
    mode: 0o755,
  });
  await writeFile(join(cwd, "z.txt"), "z\n");
  await writeFile(join(cwd, ".gitattributes"), "z.txt filter=x\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "with a filter");
  await git("config", "filter.x.smudge", "./0.sh");
}

describe("the worktree of a hostile repository", () => {
  confined("is written by filters that reach nothing beside it", async () => {
    const setup = await setUpRepository();
    const { home, cwd, worktrees } = setup;
    await mkdir(home.join("mine"));
    const script = [
      "touch inside",
      `ln -s ${home.join("mine")} ../scratch`,
      "echo gitdir: /elsewhere > .git; mv .git moved",
      "mv ../tree ../other; mkdir ../tree",
    ];
    await commitFilter(setup, script.join("\n"));
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect(existsSync(join(top, "inside"))).toBe(true);
    expect(await readFile(join(top, ".git"), "utf8")).toContain(join(cwd, ".git/worktrees"));
    expect((await readdir(join(top, ".."))).sort()).toEqual(["complete", "tree"]);
  });

  confined("is written and committed without filters of the repository until they are trusted", async () => {
    const setup = await setUpRepository();
    const { home, cwd, git } = setup;
    await commitFilter(setup, "touch smudged");
    await git("config", "filter.x.clean", "touch cleaned; cat");
    await git("config", "filter.x.required", "true");
    const variables = { ...TRUSTED, gitVariables: () => gitVariables(cwd) };
    const worktrees = new Worktrees(home.join("worktrees"), process.env, SANDBOX, variables);
    const { worktree } = await commitWork({ worktrees, cwd }, "b\n");
    expect((await readdir(worktree.top)).sort()).toEqual([
      ".git",
      ".gitattributes",
      "0.sh",
      "a.txt",
      "b.txt",
      "z.txt",
    ]);
  });

  // The second project is in no repository.
  for (const folder of ["repo/sub", "plain"])
    confined(`runs no program of the project of ${folder} outside, though PATH names it first`, async () => {
      const { home } = await setUpRepository();
      const bin = home.join(folder.split("/")[0] ?? "", "bin");
      for (const made of [bin, home.join(folder)]) await mkdir(made, { recursive: true });
      const planted = `#!/bin/sh\necho "$PWD" >> ${home.join("ran")}\nPATH=\${PATH#*:} exec git "$@"\n`;
      await writeFile(join(bin, "git"), planted, { mode: 0o755 });
      const environment = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
      const worktrees = new Worktrees(home.join("worktrees"), environment, SANDBOX, TRUSTED);
      const { top } = await worktrees.prepare({ ...NAME, cwd: home.join(folder) });
      expect([existsSync(top), existsSync(home.join("ran"))]).toEqual([true, false]);
    });

  test("of a task with the path of another folder as its id is neither made nor removed", async () => {
    const { home, cwd, worktrees } = await setUpRepository();
    for (const name of ["mine-1", "mine-source"]) await mkdir(home.join(name));
    const name = { task: "../mine", attempt: 1 };
    await expect(worktrees.remove(name, undefined)).rejects.toThrow('"../mine" cannot be the id of a task');
    await expect(worktrees.removeCopy("../mine")).rejects.toThrow("cannot be the id of a task");
    await expect(worktrees.prepare({ ...name, cwd })).rejects.toThrow();
    expect(await readdir(home.path)).toEqual(expect.arrayContaining(["mine-1", "mine-source"]));
  });

  confined("has no scratch folder that is a link", async () => {
    const { home, cwd, worktrees } = await setUpRepository();
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    await mkdir(home.join("mine"));
    await symlink(home.join("mine"), join(top, "../scratch"));
    await expect(worktrees.scratch(NAME)).rejects.toThrow("scratch is a link, so it is not used");
  });

  confined("is committed into no file that a filter names by a link", async () => {
    const setup = await setUpRepository();
    const { home, cwd, git } = setup;
    await writeFile(home.join("mine"), "mine\n");
    await commitFilter(setup, "true");
    const link = `ln -s ${home.join("mine")} "$scratch/incoming.pack"`;
    const beside = `for name in incoming incoming.pack incoming-1; do ln -s ${home.join("mine")} "$scratch/../$name"; done`;
    const script = ['scratch=$(dirname "$GIT_INDEX_FILE")', link, beside, 'touch "$scratch/ran"'];
    const clean = `#!/bin/sh\n(\n${script.join("\n")}\n) > /dev/null 2>&1\ncat\n`;
    await writeFile(join(cwd, "clean.sh"), clean, { mode: 0o755 });
    await writeFile(join(cwd, ".gitattributes"), "*.txt filter=x\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "clean");
    await git("config", "filter.x.clean", "./clean.sh");
    const { worktree } = await commitWork(setup, "b\n");
    expect(existsSync(join(worktree.top, "../scratch/ran"))).toBe(true);
    expect(await readFile(home.join("mine"), "utf8")).toBe("mine\n");
    expect((await readdir(join(worktree.top, ".."))).sort()).toEqual(["complete", "scratch", "tree"]);
  });

  confined("changes no settings of the user, whatever its list of submodules says", async () => {
    const { home, cwd, git, worktrees } = await setUpRepository();
    await run("git", ["clone", "-q", cwd, home.join("library")]);
    await git("submodule", "--quiet", "add", home.join("library"), "lib");
    const listed = ["path = lib", "url = https://example.org/x", "update = rebase", "shallow = true"];
    await writeFile(join(cwd, ".gitmodules"), `[submodule "other"]\n\t${listed.join("\n\t")}\n`);
    await git("add", ".");
    await git("commit", "-q", "-m", "submodule");
    const settings = await readFile(join(cwd, ".git/config"), "utf8");
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect(await readFile(join(top, "lib/a.txt"), "utf8")).toBe("one\n");
    expect(await readFile(join(cwd, ".git/config"), "utf8")).toBe(settings);
  });

  confined("runs nothing outside that a filter puts in the place of a submodule", async () => {
    const setup = await setUpRepository();
    const { home, cwd, git, worktrees } = setup;
    await run("git", ["clone", "-q", cwd, home.join("library")]);
    await writeFile(home.join("library/a.txt"), "two\n");
    await run("git", [...WHO, "-C", home.join("library"), "commit", "-q", "-a", "-m", "second"]);
    await git("submodule", "--quiet", "add", home.join("library"), "lib");
    const mark = home.join("ran-outside");
    const script = [
      `git clone -q ${home.join("library")} lib`,
      "git -C lib checkout -q HEAD~1",
      `git -C lib config filter.y.smudge "touch ${mark}; cat"`,
      'echo "* filter=y" > lib/.git/info/attributes',
      "touch planted",
    ];
    await commitFilter(setup, `unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\n${script.join("\n")}`);
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect(existsSync(join(top, "lib/.git/info/attributes"))).toBe(true);
    expect(existsSync(join(top, "planted"))).toBe(true);
    expect(existsSync(mark)).toBe(false);
  });
});

describe("the merge in a hostile repository", () => {
  confined("runs no driver that the repository names, and merges a file that both have changed", async () => {
    const setup = await setUpRepository();
    const { cwd, git } = setup;
    const lines = (first: string, last: string) => `${first}\n2\n3\n4\n5\n6\n${last}\n`;
    const commitLines = async (content: string) => {
      await writeFile(join(cwd, "b.txt"), content);
      await git("add", ".");
      await git("commit", "-q", "-m", "lines");
    };
    await commitLines(lines("1", "7"));
    const { worktree, made } = await commitWork(setup, lines("one", "7"));
    await commitLines(lines("1", "seven"));
    await git("checkout", "-q", "--detach");
    const mark = setup.home.join("ran-outside");
    await git("config", "merge.default", "x");
    await git("config", "merge.x.driver", `touch ${mark}; false`);
    const merged = await mergeResult(setup.worktrees.git(cwd), mergeOf(worktree.base, made.commit));
    expect(merged).toMatchObject({ kind: "merged", ref: "refs/heads/main" });
    expect(await git("show", "main:b.txt")).toBe(lines("one", "seven").trim());
    expect(existsSync(mark)).toBe(false);
    // Without the overrides it runs, so the test would notice.
    await git("merge-tree", "--write-tree", "main~1", made.commit).catch(() => undefined);
    expect(existsSync(mark)).toBe(true);
  });
});
