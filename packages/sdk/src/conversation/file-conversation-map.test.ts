import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Warning } from "../errors.ts";
import { MemoryConversationMap } from "./adapter.ts";
import { FileConversationMap } from "./file-conversation-map.ts";

let folder = "";
let path = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flint-map-"));
  path = join(folder, "deep", "conversations.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ["in memory", () => new MemoryConversationMap()],
  ["in a file", () => new FileConversationMap(path)],
])("a map of conversations %s", (_, make) => {
  test("maps each key to one thread and can forget it [S4-12, S4-14]", async () => {
    const map = make();
    await map.set("chat:1", "thread-1");
    await map.set("chat:2", "thread-2");
    await map.set("chat:1", "thread-3");
    await map.delete("chat:2");
    await map.delete("never there");
    expect(await map.get("chat:1")).toBe("thread-3");
    expect(await map.get("chat:2")).toBeUndefined();
  });

  test("takes any text as a key", async () => {
    const map = make();
    const keys = ["__proto__", "constructor", "", "a\nb", "ключ"];
    for (const [index, key] of keys.entries()) await map.set(key, `thread-${index}`);
    expect(await Promise.all(keys.map((key) => map.get(key)))).toEqual(
      keys.map((__, index) => `thread-${index}`),
    );
  });
});

describe("a file of conversations", () => {
  test("is there after a restart, complete, and for its owner only [S4-38]", async () => {
    const map = new FileConversationMap(path);
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => map.set(key, `thread-of-${key}`)));
    await map.set("__proto__", "thread-p");
    const restarted = new FileConversationMap(path);
    for (const key of keys) expect(await restarted.get(key)).toBe(`thread-of-${key}`);
    expect(await restarted.get("__proto__")).toBe("thread-p");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, "deep"))).toEqual(["conversations.json"]);
  });

  test.each([
    ["cut off", '{"version":1,"threads":{"a":"thr'],
    ["empty", ""],
    ["something else", "[1,2,3]"],
    ["without threads", '{"version":1}'],
  ])("that is %s is put aside with a warning, and a new one begins", async (_, text) => {
    const damaged = join(folder, "map.json");
    await writeFile(damaged, text);
    const warnings: Warning[] = [];
    const map = new FileConversationMap(damaged, (warning) => warnings.push(warning));
    expect(await map.get("a")).toBeUndefined();
    await map.set("b", "thread-b");
    expect(warnings).toMatchObject([{ kind: "damagedFile", message: expect.stringContaining(damaged) }]);
    expect(await readFile(`${damaged}.damaged`, "utf8")).toBe(text);
    expect(await new FileConversationMap(damaged).get("b")).toBe("thread-b");
  });

  test("with some bad entries is read without them", async () => {
    const damaged = join(folder, "map.json");
    await writeFile(damaged, JSON.stringify({ threads: { a: "thread-a", b: 7, c: "../../etc/passwd" } }));
    const warnings: Warning[] = [];
    const map = new FileConversationMap(damaged, (warning) => warnings.push(warning));
    expect([await map.get("a"), await map.get("b"), await map.get("c")]).toEqual([
      "thread-a",
      undefined,
      undefined,
    ]);
    expect(warnings[0]?.message).toContain("2 entries hold no thread id");
  });

  test("replaces what a crash left half written", async () => {
    const map = new FileConversationMap(join(folder, "map.json"));
    await writeFile(join(folder, "map.json.new"), "half");
    await map.set("a", "thread-a");
    expect(await readdir(folder)).toEqual(["map.json"]);
  });

  test("that cannot be read is an error, and is tried again later", async () => {
    const unreadable = join(folder, "map.json");
    await mkdir(unreadable);
    const map = new FileConversationMap(unreadable);
    await expect(map.get("a")).rejects.toThrow("EISDIR");
    await rm(unreadable, { recursive: true });
    expect(await map.get("a")).toBeUndefined();
  });

  test("that cannot be written is an error, and the next write may work", async () => {
    const blocker = join(folder, "deep");
    await writeFile(blocker, "a file where the folder should be");
    const map = new FileConversationMap(path);
    await expect(map.set("a", "thread-a")).rejects.toThrow();
    await rm(blocker);
    await map.set("b", "thread-b");
    expect(await new FileConversationMap(path).get("b")).toBe("thread-b");
  });
});
