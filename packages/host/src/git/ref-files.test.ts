import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { refsInFiles } from "./ref-files.ts";

const EXPECTED = ["refs/heads", "refs/tags", "refs/remotes", "refs/stash"];

/** A repository with one commit, and what real git says of its refs. */
async function setUp() {
  const folder = await temporaryFolder();
  const run = (...args: string[]) => {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    return execFileSync("git", [...who, ...args], { cwd: folder.path, encoding: "utf8" }).trim();
  };
  run("init", "-q", "-b", "main");
  run("commit", "-q", "--allow-empty", "-m", "first");
  const gitDir = folder.join(".git");
  const byGit = () =>
    run("for-each-ref", "--format=%(objectname) %(refname) %(symref)", ...EXPECTED).split("\n");
  const byFiles = async () =>
    (await refsInFiles(gitDir, EXPECTED))?.map(
      ({ object, name, target = "" }) => `${object} ${name} ${target}`,
    );
  const trimmed = async () => (await byFiles())?.map((row) => row.trim());
  return { run, byGit: () => byGit().map((row) => row.trim()), byFiles: trimmed, gitDir };
}

test("refs in files, packed ones and names for others are read as git reads them", async () => {
  const { run, byGit, byFiles } = await setUp();
  run("branch", "feature/a-1");
  run("tag", "-a", "-m", "x", "v1.0");
  run("update-ref", "refs/remotes/origin/main", "HEAD");
  run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
  expect(await byFiles()).toEqual(byGit());
  run("pack-refs", "--all");
  run("branch", "later");
  run("commit", "-q", "--allow-empty", "-m", "second");
  expect(await byFiles()).toEqual(byGit());
  expect(byGit()).toHaveLength(6);
  run("branch", "-D", "feature/a-1");
  expect(await byFiles()).toEqual(byGit());
});

test("a ref that is being written is not one yet", async () => {
  const { byGit, byFiles, gitDir } = await setUp();
  writeFileSync(`${gitDir}/refs/heads/next.lock`, "half");
  expect(await byFiles()).toEqual(byGit());
});

const UNCLEAR: Readonly<Record<string, (gitDir: string) => void>> = {
  "a link": (gitDir) => symlinkSync("main", `${gitDir}/refs/heads/other`),
  "a name that git may refuse": (gitDir) => writeFileSync(`${gitDir}/refs/heads/a..b`, "x"),
  "a value that is none": (gitDir) => writeFileSync(`${gitDir}/refs/heads/broken`, "nothing\n"),
  "a value of zeros": (gitDir) => writeFileSync(`${gitDir}/refs/heads/none`, `${"0".repeat(40)}\n`),
  "a name for a ref that is not there": (gitDir) =>
    writeFileSync(`${gitDir}/refs/heads/away`, "ref: refs/heads/gone\n"),
  "a damaged file of packed refs": (gitDir) => writeFileSync(`${gitDir}/packed-refs`, "damaged\n"),
  "packed refs that are a folder": (gitDir) => mkdirSync(`${gitDir}/packed-refs`),
  "too many refs": (gitDir) => {
    const value = readFileSync(`${gitDir}/refs/heads/main`);
    for (let at = 0; at < 60; at += 1) writeFileSync(`${gitDir}/refs/heads/b${at}`, value);
  },
};

for (const [what, make] of Object.entries(UNCLEAR))
  test(`${what} is left to git`, async () => {
    const { byFiles, gitDir } = await setUp();
    make(gitDir);
    expect(await byFiles()).toBeUndefined();
  });
