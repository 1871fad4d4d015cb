import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { newFolder } from "../sandbox/testing/fixture.ts";
import { CLEAN_TAKE_OVER, newRepository } from "../sandbox/testing/repository.ts";
import { GitCommand } from "./git-command.ts";

const confined = needs("bwrap");
const run = promisify(execFile);
const COMMIT = "echo two >> a.txt; git commit -qam two";

/** A file outside of the workspace that exists as soon as a program that was planted ran outside. */
function outsideMark() {
  const folder = newFolder();
  return { folder, mark: join(folder, "ran-outside") };
}

confined(
  "a program named git that an agent puts on the user's search path runs nowhere outside",
  async () => {
    const { mark } = outsideMark();
    const environment = { ...process.env };
    const { agent, take, git } = await newRepository({
      environment,
      prepare: async (path) => {
        environment.PATH = `${path}/bin:${environment.PATH}`;
        return undefined;
      },
    });
    const plant = `printf '#!/bin/sh\ntouch ${mark}\nexec /usr/bin/git "$@"\n' > bin/git; chmod +x bin/git`;
    await agent(`${COMMIT}; mkdir bin; ${plant}`);
    expect(await take()).toEqual(CLEAN_TAKE_OVER);
    expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
    expect(existsSync(mark)).toBe(false);
  },
);

confined("a program that a repository names as the server of its remote runs nowhere outside", async () => {
  const { folder, mark } = outsideMark();
  const program = join(folder, "program");
  await writeFile(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const { agent, git, path, offered } = await newRepository();
  await agent(COMMIT);
  const blob = (await git("rev-parse", "HEAD:a.txt")).trim();
  await git("config", "core.repositoryFormatVersion", "1");
  await git("config", "extensions.partialClone", "origin");
  await git("config", "remote.origin.promisor", "true");
  await git("config", "remote.origin.url", path);
  await git("config", "remote.origin.uploadpack", program);
  // Git would fetch it to show the difference.
  await rm(join(path, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  expect(await (await offered()).accept()).toEqual(CLEAN_TAKE_OVER);
  expect(existsSync(mark)).toBe(false);
});

confined("to compare an agent's merge, not even the user's own merge driver runs outside", async () => {
  const { folder, mark } = outsideMark();
  await writeFile(
    join(folder, ".gitconfig"),
    `[merge "own"]\n\tdriver = touch ${mark}\n[core]\n\tattributesFile = ${join(folder, "all")}\n`,
  );
  await writeFile(join(folder, "all"), "* merge=own\n");
  const environment = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder };
  const { agent, offered } = await newRepository({ environment });
  const commit = (text: string) =>
    `blob=$(echo ${text} | git hash-object -w --stdin); for file in a.txt .npmrc; do git update-index --add --cacheinfo 100644,$blob,$file; done; ${text}=$(git commit-tree -m x -p main $(git write-tree))`;
  const merge = "$(git commit-tree -m x -p $two -p $three $three^{tree})";
  await agent(`${commit("two")}; ${commit("three")}; git branch side ${merge}; git read-tree main`);
  expect((await offered()).protectedPaths).toEqual([".npmrc"]);
  expect(existsSync(mark)).toBe(false);
});

test("a nested repository of an agent runs nothing, though the user's diffs show submodules in full", async () => {
  const { folder, mark } = outsideMark();
  const program = join(folder, "program");
  await writeFile(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  await writeFile(
    join(folder, ".gitconfig"),
    "[diff]\n\tsubmodule = diff\n[user]\n\tname = a\n\temail = a@b\n",
  );
  const top = join(folder, "repository");
  const nested = join(top, "nested");
  await mkdir(nested, { recursive: true });
  const environment = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (cwd: string, ...args: string[]) => run("git", args, { cwd, env: environment });
  for (const cwd of [top, nested]) {
    await git(cwd, "init", "-q");
    await git(cwd, "commit", "-q", "--allow-empty", "-m", "first");
  }
  await writeFile(join(nested, "file"), "x\n");
  await git(nested, "add", "file");
  await git(nested, "commit", "-q", "-m", "second");
  await git(nested, "config", "diff.external", program);
  await git(top, "add", "nested");
  await git(top, "commit", "-q", "-m", "second");
  const shown = await new GitCommand(top, environment).run(["diff", "--no-ext-diff", "HEAD~1", "HEAD", "--"]);
  expect(shown).toContain("+Subproject commit");
  expect(existsSync(mark)).toBe(false);
});
