import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import {
  readPlainFile,
  readRegularBytes,
  readRegularText,
  readRegularTextSync,
  readTextNoFollow,
  UNREADABLE,
} from "./regular-file.ts";

/** A folder with everything that could be in place of a plain file. */
async function setup() {
  const { path } = await temporaryFolder();
  const at = (name: string) => join(path, name);
  execFileSync("mkfifo", [at("pipe")]);
  mkdirSync(at("folder"));
  writeFileSync(at("file"), "text\n");
  writeFileSync(at("large"), "x".repeat(101));
  symlinkSync("file", at("link"));
  symlinkSync("pipe", at("link-to-pipe"));
  symlinkSync("/dev/zero", at("zeros"));
  symlinkSync("/proc/self/environ", at("environment"));
  symlinkSync("gone", at("dangling"));
  return { at, planted: ["pipe", "folder", "large", "link-to-pipe", "zeros", "environment", "dangling"] };
}

test("reads a plain file, also through a link", async () => {
  const { at } = await setup();
  for (const name of ["file", "link"]) {
    expect(await readRegularText(at(name), 100)).toBe("text\n");
    expect(readRegularTextSync(at(name), 100)).toBe("text\n");
    expect((await readPlainFile(at(name), 100)).toString()).toBe("text\n");
  }
  expect(await readRegularText(at("gone"), 100)).toBeUndefined();
});

test("rejects anything else at once, without blocking", async () => {
  const { at, planted } = await setup();
  for (const name of planted) {
    expect([name, await readRegularText(at(name), 100)]).toEqual([name, UNREADABLE]);
    expect([name, await readRegularBytes(at(name), 100)]).toEqual([name, undefined]);
    expect([name, await readTextNoFollow(at(name), 100)]).toEqual([name, undefined]);
    expect([name, readRegularTextSync(at(name), 100) ?? ""]).toEqual([name, ""]);
  }
});

test("unlinkedText does not read through a link", async () => {
  const { at } = await setup();
  expect(await readTextNoFollow(at("file"), 100)).toBe("text\n");
  expect(await readTextNoFollow(at("link"), 100)).toBeUndefined();
  expect(await readTextNoFollow(at("gone"), 100)).toBeUndefined();
});
