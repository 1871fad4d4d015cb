import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { gitEnvironment } from "../git/git-command.ts";
import { runToEnd } from "../sandbox/processes/run-to-end.ts";
import { KnownSettings, LIST_SETTINGS } from "./known-settings.ts";

/** A repository whose files are older than this test, and settings that are read with real git, which is counted. */
async function setUp() {
  const folder = await temporaryFolder();
  const [home, cwd] = [folder.join("home"), folder.join("repo")];
  mkdirSync(home);
  mkdirSync(cwd);
  const env = { ...gitEnvironment(process.env), HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const run = (...args: string[]) => execFileSync("git", args, { cwd, env, encoding: "utf8" });
  run("init", "-q");
  const known = new KnownSettings();
  let asked = 0;
  const list = (place = cwd, more: Record<string, string> = {}) => {
    const variables = { ...env, ...more };
    return known.list(place, variables, () => {
      asked += 1;
      return runToEnd(["git", ...LIST_SETTINGS], { cwd: place, env: variables });
    });
  };
  const value = async (name: string) =>
    (await list()).settings.findLast((setting) => setting.name === name)?.value;
  /** Asks until it is remembered, which takes until the files have been the same for a moment. */
  const settle = async (place = cwd) => {
    await expect.poll(() => countedIn(() => list(place)), { timeout: 10_000, interval: 20 }).toBe(0);
  };
  const countedIn = async (work: () => Promise<unknown>) => {
    const before = asked;
    await work();
    return asked - before;
  };
  return { folder, home, cwd, run, list, value, settle, countedIn, config: folder.join("repo/.git/config") };
}

test("git is asked once for the settings of a repository that stays as it is", async () => {
  const { value, settle, countedIn, run } = await setUp();
  run("config", "core.pager", "evil");
  await settle();
  expect(await countedIn(() => value("core.pager"))).toBe(0);
  expect(await value("core.pager")).toBe("evil");
});

test("a setting counts from the moment that it is in a file, even with the size and the time of before", async () => {
  const { value, settle, config } = await setUp();
  appendFileSync(config, "[core]\n\tpager = aaaa\n");
  await settle();
  expect(await value("core.pager")).toBe("aaaa");
  const { atime, mtime, size } = statSync(config);
  writeFileSync(config, readFileSync(config, "utf8").replace("aaaa", "evil"));
  utimesSync(config, atime, mtime);
  expect(statSync(config).size).toBe(size);
  expect(await value("core.pager")).toBe("evil");
});

test("a file that changed a moment ago is read again, because it could change without another time", async () => {
  const { value, countedIn, config } = await setUp();
  appendFileSync(config, "[core]\n\tpager = one\n");
  expect(await countedIn(() => value("core.pager"))).toBe(1);
  expect(await countedIn(() => value("core.pager"))).toBe(1);
});

test("settings of the user count that appear later, also in a file that their own includes", async () => {
  const { folder, home, value, settle } = await setUp();
  await settle();
  writeFileSync(folder.join("home/.gitconfig"), "[include]\n\tpath = ~/more\n[a]\n\tb = 1\n");
  expect(await value("a.b")).toBe("1");
  await settle();
  writeFileSync(`${home}/more`, "[a]\n\tc = 2\n");
  expect(await value("a.c")).toBe("2");
});

test("nothing is remembered of a repository that includes other files", async () => {
  const { value, countedIn, settle, config, folder } = await setUp();
  await settle();
  appendFileSync(config, "[include]\n\tpath = ../more\n");
  const old = new Date(Date.now() - 60_000);
  utimesSync(config, old, old);
  writeFileSync(folder.join("repo/more"), "[core]\n\tpager = one\n");
  expect(await value("core.pager")).toBe("one");
  await expect.poll(() => Date.now() - statSync(config).ctimeMs > 200, { interval: 20 }).toBe(true);
  expect(await countedIn(() => value("core.pager"))).toBe(1);
  expect(await countedIn(() => value("core.pager"))).toBe(1);
});

test("nothing is remembered where git has to search for the repository, or finds another one", async () => {
  const { list, countedIn, settle, folder } = await setUp();
  await settle();
  mkdirSync(folder.join("repo/below"));
  expect(await countedIn(() => list(folder.join("repo/below")))).toBe(1);
  expect(await countedIn(() => list(folder.join("repo/below")))).toBe(1);
  // Git leaves out the end of the line.
  mkdirSync(folder.join("other"));
  writeFileSync(folder.join("other/.git"), `gitdir: ${folder.join("repo/.git")}\r\n`);
  expect((await list(folder.join("other"))).settings).not.toEqual([]);
  expect(await countedIn(() => list(folder.join("other")))).toBe(1);
});

test("other variables of git are another question, and a failure is none that is remembered", async () => {
  const { list, countedIn, settle, folder, config } = await setUp();
  await settle();
  writeFileSync(folder.join("global"), "[a]\n\tb = other\n");
  const other = await list(undefined, { GIT_CONFIG_GLOBAL: folder.join("global") });
  expect(other.settings).toContainEqual(
    expect.objectContaining({ name: "a.b", value: "other", isOwn: true }),
  );
  expect(await countedIn(() => list(undefined, { GIT_AUTHOR_NAME: "Ann" }))).toBe(0);
  writeFileSync(config, "[broken");
  expect((await list()).failed?.exitCode).toBe(128);
  expect((await list()).failed?.exitCode).toBe(128);
});
