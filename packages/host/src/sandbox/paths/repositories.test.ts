import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestClock, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { Repositories } from "./repositories.ts";

async function stage() {
  const { path } = await temporaryFolder();
  for (const name of ["sub", "x", "main"]) mkdirSync(join(path, name));
  writeFileSync(join(path, "sub/.git"), "gitdir: ../x\n");
  return {
    path,
    commondir: join(path, "x/commondir"),
    found: () => new Repositories(new TestClock()).inside(path),
  };
}

test("a worktree leads to its folder, and that to the one that it shares", async () => {
  const { path, commondir, found } = await stage();
  writeFileSync(commondir, "../main\n");
  expect(await found()).toEqual(["sub/.git", "x", "main"].map((name) => join(path, name)));
});

test.each(["a pipe", "a link to a device", "a link to a pipe", "a folder"])(
  "%s where git would read a file holds nobody up",
  async (planted) => {
    const { path, commondir, found } = await stage();
    const plant = {
      "a pipe": () => execFileSync("mkfifo", [commondir]),
      "a link to a device": () => symlinkSync("/dev/zero", commondir),
      "a link to a pipe": () => {
        execFileSync("mkfifo", [join(path, "pipe")]);
        symlinkSync("../pipe", commondir);
      },
      "a folder": () => mkdirSync(commondir),
    };
    plant[planted as keyof typeof plant]();
    expect(await found()).toEqual(["sub/.git", "x"].map((name) => join(path, name)));
  },
);
