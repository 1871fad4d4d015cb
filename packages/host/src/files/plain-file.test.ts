import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import {
  plainBytes,
  plainText,
  plainTextSync,
  readPlainFile,
  UNREADABLE,
  unlinkedText,
} from "./plain-file.ts";

/** Everything that somebody could put where a file is expected. */
async function stage() {
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

test("a plain file is read, and so is what a link leads to", async () => {
  const { at } = await stage();
  for (const name of ["file", "link"]) {
    expect(await plainText(at(name), 100)).toBe("text\n");
    expect(plainTextSync(at(name), 100)).toBe("text\n");
    expect((await readPlainFile(at(name), 100)).toString()).toBe("text\n");
  }
  expect(await plainText(at("gone"), 100)).toBeUndefined();
});

test("whatever else is put in its place is refused at once, and never waited for", async () => {
  const { at, planted } = await stage();
  for (const name of planted) {
    expect([name, await plainText(at(name), 100)]).toEqual([name, UNREADABLE]);
    expect([name, await plainBytes(at(name), 100)]).toEqual([name, undefined]);
    expect([name, await unlinkedText(at(name), 100)]).toEqual([name, undefined]);
    expect([name, plainTextSync(at(name), 100) ?? ""]).toEqual([name, ""]);
  }
});

test("a file whose content decides something is not read through a link", async () => {
  const { at } = await stage();
  expect(await unlinkedText(at("file"), 100)).toBe("text\n");
  expect(await unlinkedText(at("link"), 100)).toBeUndefined();
  expect(await unlinkedText(at("gone"), 100)).toBeUndefined();
});
