import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { branchOf } from "./branch.ts";

test("is the branch that HEAD names, also in a folder of the repository", async () => {
  const folder = await temporaryFolder();
  mkdirSync(folder.join(".git"));
  mkdirSync(folder.join("deep", "down"), { recursive: true });
  writeFileSync(folder.join(".git", "HEAD"), "ref: refs/heads/topic/one\n");
  expect(branchOf(folder.join("deep", "down"))).toBe("topic/one");
});

test("a pipe, a device or a huge file in place of a file of the repository holds up nothing", async () => {
  const folder = await temporaryFolder();
  for (const name of ["pipe", "device", "huge"]) mkdirSync(folder.join(name));
  execFileSync("mkfifo", [folder.join("pipe", ".git")]);
  symlinkSync("/dev/zero", folder.join("device", ".git"));
  execFileSync("truncate", ["-s", "3G", folder.join("huge", ".git")]);
  for (const name of ["pipe", "device", "huge"]) expect(branchOf(folder.join(name))).toBeUndefined();
});
