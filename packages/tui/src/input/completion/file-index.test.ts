import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { TestClock, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { FileIndex } from "./file-index.ts";

const never = new AbortController().signal;

async function workspace(...paths: readonly string[]) {
  const folder = await temporaryFolder();
  const add = (path: string, text = "") => {
    mkdirSync(dirname(folder.join(path)), { recursive: true });
    writeFileSync(folder.join(path), text);
  };
  for (const path of paths) add(path);
  const clock = new TestClock();
  let grown = () => {};
  const index = new FileIndex(folder.path, clock, () => grown());
  const find = async (query: string) => (await index.find(query, never)).map(({ path }) => path);
  return {
    folder,
    add,
    index,
    find,
    /** Lets the list become old. */
    wait: () => clock.advance(60_000),
    walked: () =>
      new Promise<void>((resolve) => {
        grown = resolve;
      }),
  };
}

test("finds files by some letters, the name of a file before its folders", async () => {
  const { find } = await workspace("main/other.txt", "src/main.ts", "src/domain.ts", "docs/readme.md");
  expect((await find("main")).slice(0, 2)).toEqual(["main", "src/main.ts"]);
  expect(await find("rdme")).toEqual(["docs/readme.md"]);
  expect(await find("zzz")).toEqual([]);
});

test("leaves out what git ignores, and never follows links", async () => {
  const { folder, add, find } = await workspace("src/a.ts", "build/a.ts", ".git/a.ts", "node_modules/x/a.ts");
  add(".gitignore", "build/\n");
  symlinkSync("/etc", folder.join("linked"));
  symlinkSync("..", folder.join("src/up"));
  expect(await find("a.ts")).toEqual(["src/a.ts"]);
  expect(await find("passwd")).toEqual([]);
});

test("without letters offers what was used last, then the top of the workspace", async () => {
  const { index, find } = await workspace("b.txt", "src/deep/a.ts");
  await find("");
  index.noteUse("src/deep/a.ts");
  expect(await find("")).toEqual(["src/deep/a.ts", "b.txt", "src"]);
});

test("prefers what was used before among equals", async () => {
  const { index, find } = await workspace("one/same.ts", "two/same.ts");
  expect((await find("same"))[0]).toBe("one/same.ts");
  index.noteUse("two/same.ts");
  expect((await find("same"))[0]).toBe("two/same.ts");
});

test("sees new files after a while", async () => {
  const { add, find, wait, walked } = await workspace("a.ts");
  await find("a");
  add("added.ts");
  expect(await find("added")).toEqual([]);
  await wait();
  const done = walked();
  await find("added");
  await done;
  expect(await find("added")).toEqual(["added.ts"]);
});

test("completes paths outside of the workspace folder by folder", async () => {
  const { folder, find } = await workspace("sub/file.txt", "sub/.hidden");
  expect(await find(`${folder.path}/su`)).toEqual([`${folder.path}/sub`]);
  expect(await find("./sub/")).toEqual(["./sub/file.txt"]);
  expect(await find("/no/such/folder/")).toEqual([]);
});

test("handles a folder that vanished, and a search that is no longer wanted", async () => {
  const { folder, index, find } = await workspace("a.ts");
  rmSync(folder.path, { recursive: true });
  expect(await find("a")).toEqual([]);
  await expect(index.find("a", AbortSignal.abort())).rejects.toThrow();
  index.close();
});
