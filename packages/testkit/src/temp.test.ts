import { existsSync } from "node:fs";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentFolder, isCovered, temporaryFolder } from "./temp.ts";

test("a folder for agents lies outside of what is temporary or covered by a sandbox", async () => {
  const { path } = await agentFolder();
  expect([isCovered(path), existsSync(path)]).toEqual([false, true]);
  expect(isCovered((await temporaryFolder()).path)).toBe(true);
  expect([isCovered("/tmp"), isCovered("/tmporary"), isCovered("/run/user/0")]).toEqual([true, false, true]);
});

describe("a temporary folder", () => {
  test("is empty, absolute, and another one each time", async () => {
    const [first, second] = [await temporaryFolder(), await temporaryFolder()];
    expect(first.path).not.toBe(second.path);
    expect(await realpath(first.path)).toBe(first.path);
    expect(first.join("a", "b")).toBe(`${first.path}/a/b`);
  });

  test("is removed with everything in it after the test", async () => {
    let path = "";
    onTestFinished(() => expect(existsSync(path)).toBe(false));
    const folder = await temporaryFolder();
    path = folder.path;
    await mkdir(folder.join("deep/down"), { recursive: true });
    await writeFile(folder.join("deep/down/file"), "x");
  });

  test("can be removed early and twice", async () => {
    const folder = await temporaryFolder();
    await folder.remove();
    await folder[Symbol.asyncDispose]();
    expect(existsSync(folder.path)).toBe(false);
  });
});
