import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/recorded-turn.ts";
import { FIND_FILES, LIST_FILES } from "./list-files.ts";

async function project(files: Readonly<Record<string, string>>): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(folder.join(path)), { recursive: true });
    writeFileSync(folder.join(path), content);
  }
  return folder;
}

const FILES = {
  ".gitignore": "dist/\n*.log\n!keep.log\n",
  ".git/config": "",
  "node_modules/x/index.js": "",
  "dist/a.js": "",
  "keep.log": "",
  "noise.log": "",
  "src/a.ts": "",
  "src/deep/b.ts": "",
  "src/deep/.gitignore": "/local\n",
  "src/deep/local": "",
  "src/local": "",
};

test("lists a folder to the requested depth, without ignored files", async () => {
  const folder = await project(FILES);
  symlinkSync("/", folder.join("root"));
  const { text } = await callTool(LIST_FILES, { depth: 5 }, folder);
  expect(text.split("\n")).toEqual([
    ".gitignore",
    "keep.log",
    "root@",
    "src/",
    "src/a.ts",
    "src/deep/",
    "src/deep/.gitignore",
    "src/deep/b.ts",
    "src/local",
  ]);
  const shallow = await callTool(LIST_FILES, { path: "src", depth: 1 }, folder);
  expect(shallow.text.split("\n")).toEqual(["src/a.ts", "src/deep/", "src/local"]);
});

test("finds files by a glob, with the ignore rules of the workspace", async () => {
  const folder = await project(FILES);
  const find = async (input: Record<string, string>) =>
    (await callTool(FIND_FILES, input, folder)).text.split("\n");
  expect(await find({ pattern: "*.ts" })).toEqual(["src/a.ts", "src/deep/b.ts"]);
  expect(await find({ pattern: "src/*.ts" })).toEqual(["src/a.ts"]);
  expect(await find({ pattern: "*.{log,js}", path: "." })).toEqual(["keep.log"]);
  expect(await find({ pattern: "**/b.ts", path: "src/deep" })).toEqual(["src/deep/b.ts"]);
  expect(await find({ pattern: "*.py" })).toEqual(["(Nothing found.)"]);
});

test("rejects a glob that expands to too many patterns", async () => {
  const folder = await project({ file: "" });
  const { status, text } = await callTool(FIND_FILES, { pattern: "{a,b}".repeat(30) }, folder);
  expect([status, text]).toEqual(["failed", "The braces of a pattern stand for at most 64 patterns."]);
});

test("fails for a path that is not a folder", async () => {
  const folder = await project({ file: "" });
  const textFor = async (path: string) => (await callTool(LIST_FILES, { path }, folder)).text;
  expect(await textFor("file")).toBe("file is not a folder.");
  expect(await textFor("nowhere")).toBe("nowhere does not exist.");
  expect(await textFor("/proc")).toBe("/proc belongs to the system and is not read.");
});

test("limits a long list and notes it", async () => {
  const folder = await project(
    Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, ""])),
  );
  const { text } = await callTool(LIST_FILES, {}, folder);
  expect(text.split("\n").at(-1)).toBe("(more than 1000; narrow the request)");
});
