import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { outputFile } from "./output-file.ts";

/** A workspace that an agent can write, and a folder beside it that it cannot. */
async function setUp() {
  const folder = await temporaryFolder();
  const [workspace, outside] = [folder.join("workspace"), folder.join("outside")];
  for (const path of [workspace, outside]) mkdirSync(path);
  writeFileSync(join(outside, ".bashrc"), "mine\n");
  return { workspace, outside };
}

test("writes a new file, and replaces an old one", async () => {
  const { workspace } = await setUp();
  const file = join(workspace, "answer.md");
  outputFile(file)("a long answer");
  outputFile(file)("short");
  expect(readFileSync(file, "utf8")).toBe("short");
});

test("does not follow a link that an agent put in place of the file", async () => {
  const { workspace, outside } = await setUp();
  const file = join(workspace, "answer.md");
  const write = outputFile(file);
  symlinkSync(join(outside, ".bashrc"), file);
  expect(() => write("touch /evil\n")).toThrow(/answer\.md was not written: it is a link/);
  expect(readFileSync(join(outside, ".bashrc"), "utf8")).toBe("mine\n");
});

test("does not follow a link that an agent put in place of the folder", async () => {
  const { workspace, outside } = await setUp();
  const results = join(workspace, "results");
  mkdirSync(results);
  const write = outputFile(join(results, "answer.md"));
  renameSync(results, join(workspace, "moved"));
  symlinkSync(outside, results);
  expect(() => write("evil")).toThrow(/was not written/);
  expect(readdirSync(outside)).toEqual([".bashrc"]);
});

test("follows the user's own link to a folder", async () => {
  const { workspace, outside } = await setUp();
  symlinkSync(outside, join(workspace, "results"));
  outputFile(join(workspace, "results", "answer.md"))("text");
  expect(readFileSync(join(outside, "answer.md"), "utf8")).toBe("text");
});

test("does not wait for the reader of a pipe", async () => {
  const { workspace } = await setUp();
  const pipe = join(workspace, "answer.md");
  execFileSync("mkfifo", [pipe]);
  expect(() => outputFile(pipe)("text")).toThrow(/answer\.md was not written/);
});

test("writes to what the system has for that", () => {
  expect(() => outputFile("/dev/null")("text")).not.toThrow();
});
