import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { ProjectFiles } from "./project-files.ts";

/** A project with one folder that steers an agent, and what of it an agent is given with some trust. */
async function project() {
  const home = await temporaryFolder();
  const { path: cwd, join } = await temporaryFolder();
  await mkdir(join(".opencode"));
  await writeFile(join(".opencode/plugin.js"), "one");
  const files = new ProjectFiles(home.path);
  const review = async () => {
    const agents = [{ name: "opencode", files: [".opencode"] }];
    const entries = await files.entries(cwd, agents, new Map());
    return new Map(entries.map(({ key, file }) => [key, file.sha256]));
  };
  const given = async (trusted: ReadonlyMap<string, string>) => {
    const { trusted: used, untrusted } = await files.steering(cwd, [".opencode"], trusted);
    return { used: used.length, ignored: untrusted.length };
  };
  return { join, review, given };
}

test("files that steer an agent are used once trusted, and ignored again when they change", async () => {
  const { join, review, given } = await project();
  expect(await given(new Map())).toEqual({ used: 0, ignored: 1 });
  const trusted = await review();
  expect(await given(trusted)).toEqual({ used: 1, ignored: 0 });
  await writeFile(join(".opencode/plugin.js"), "two");
  expect(await given(trusted)).toEqual({ used: 0, ignored: 1 });
});

test("a file that cannot be read completely is not used, even if its hash matches", async () => {
  const { join, review, given } = await project();
  await symlink("/dev/zero", join(".opencode/linked.js"));
  expect(await given(await review())).toEqual({ used: 0, ignored: 1 });
});

test("the placeholder of a sandbox is nothing to review, unless there is something in it", async () => {
  const home = await temporaryFolder();
  const { path: cwd, join } = await temporaryFolder();
  const agents = [{ name: "claude", files: [".mcp.json", ".opencode"] }];
  await mkdir(join(".mcp.json"));
  await mkdir(join(".opencode"));
  for (const name of [".mcp.json", ".opencode"]) await chmod(join(name), 0o1700);
  const reviewed = async () => {
    const entries = await new ProjectFiles(home.path).entries(cwd, agents, new Map());
    return entries.map(({ file }) => file.path);
  };
  expect(await reviewed()).toEqual([]);
  await writeFile(join(".opencode/plugin.js"), "one");
  expect(await reviewed()).toEqual([".opencode"]);
});
