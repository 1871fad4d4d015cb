import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../testing/fixture.ts";
import { findOuterProgram, outerSearchPath } from "./search-path.ts";

test("programs are not looked for where an agent could have put them", () => {
  const home = newFolder();
  const at = (...names: string[]) => join(home, ...names);
  for (const name of ["work/bin", "tools/bin", "env/bin", "other/node_modules/.bin"])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at("env/pyvenv.cfg"), "");
  symlinkSync(at("work/bin"), at("link"));
  const folders = [at("work/bin"), at("link"), at("env/bin"), at("other/node_modules/.bin"), "", ".", "bin"];
  const kept = [at("tools/bin"), at("missing"), "/usr/bin"];
  expect(outerSearchPath([...folders, ...kept].join(":"), [at("work")])).toBe(kept.join(":"));
});

test("programs of every repository around a folder are left out, and of the one that a worktree is of", () => {
  const home = newFolder();
  const at = (...names: string[]) => join(home, ...names);
  for (const name of ["work/.git", "work/bin", "work/module/packages/a", "linked/sub", "tools"])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at("work/module/.git"), "gitdir: ../.git/modules/module\n");
  writeFileSync(at("linked/.git"), `gitdir: ${at("work")}/.git/worktrees/linked\n`);
  const path = [at("work/bin"), at("tools")].join(":");
  const found = ["work/module/packages/a", "linked/sub", "tools"].map((name) =>
    outerSearchPath(path, [at(name)]),
  );
  expect(found).toEqual([at("tools"), at("tools"), at("work/bin")]);
});

test("programs of the project that Flint was started in are left out", () => {
  const path = `${process.cwd()}/bin:/usr/bin`;
  expect(outerSearchPath(path, [newFolder()])).toBe("/usr/bin");
});

test("a program in the project or its repository is left out, also behind a link", async () => {
  const home = newFolder();
  const at = (...names: string[]) => join(home, ...names);
  for (const name of ["work/.git", "work/bin", "work/packages/a", "tools"])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at("work/bin/codex"), "", { mode: 0o755 });
  symlinkSync(at("work/bin/codex"), at("tools/codex"));
  const find = (...folders: string[]) =>
    findOuterProgram("codex", folders.join(":"), [at("work/packages/a")]);
  expect(await find(at("work/bin"))).toEqual({ leftOut: at("work/bin/codex") });
  expect(await find(at("tools"))).toEqual({ leftOut: at("tools/codex") });
  mkdirSync(at("own"));
  writeFileSync(at("own/codex"), "", { mode: 0o755 });
  expect(await find(at("work/bin"), at("tools"), at("own"))).toEqual({ path: at("own/codex") });
  expect(await find()).toEqual({});
});
