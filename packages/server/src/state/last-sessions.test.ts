import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { LastSessionsFile } from "./last-sessions.ts";

test("another server finds the last session of a client in a folder", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("state/editor-sessions.json");
  const one = new LastSessionsFile(path);
  expect(one.find("zed", "/a")).toBeUndefined();
  one.note("zed", "/a", "first");
  one.note("zed", "/b", "second");
  one.note("acpx", "/a", "third");
  one.note("zed", "/a", "fourth");
  const other = new LastSessionsFile(path);
  const found = [other.find("zed", "/a"), other.find("zed", "/b"), other.find("acpx", "/a")];
  expect(found).toEqual(["fourth", "second", "third"]);
  expect(other.find("acpx", "/b")).toBeUndefined();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.join("state"))).toEqual(["editor-sessions.json"]);
});

test("only the latest 500 entries are stored", async () => {
  const path = (await temporaryFolder()).join("editor-sessions.json");
  const file = new LastSessionsFile(path);
  for (let index = 0; index <= 500; index += 1) file.note("zed", `/${index}`, String(index));
  expect([file.find("zed", "/0"), file.find("zed", "/1")]).toEqual([undefined, "1"]);
  expect(JSON.parse(await readFile(path, "utf8"))).toHaveLength(500);
});

test("a damaged file has no entries, and a failed write is ignored", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("editor-sessions.json");
  await writeFile(path, '[{"client":"zed"');
  const damaged = new LastSessionsFile(path);
  expect(damaged.find("zed", "/a")).toBeUndefined();
  damaged.note("zed", "/a", "again");
  expect(damaged.find("zed", "/a")).toBe("again");
  await mkdir(folder.join("taken"));
  const unwritable = new LastSessionsFile(folder.join("taken"));
  unwritable.note("zed", "/a", "lost");
  expect(unwritable.find("zed", "/a")).toBeUndefined();
  expect(await readdir(folder.path)).toEqual(["editor-sessions.json", "taken"]);
});
