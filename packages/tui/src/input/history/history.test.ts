import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { Drafts } from "./drafts.ts";
import { HistoryFile } from "./history-file.ts";
import { HistoryWalk, promptsForSearch, promptsIn } from "./prompt-history.ts";

describe("going through earlier prompts", () => {
  test("keeps what was being written, and what was edited on the way", () => {
    const walk = new HistoryWalk(["one", "two"]);
    expect(walk.back("draft")).toBe("two");
    expect(walk.back("two, edited")).toBe("one");
    expect(walk.back("one")).toBeUndefined();
    expect(walk.forward("one")).toBe("two, edited");
    expect(walk.forward("two, edited")).toBe("draft");
    expect([walk.forward("draft"), walk.isBack]).toEqual([undefined, false]);
  });

  test("has the prompts of the folder, each once, at its last use", () => {
    const all = [
      { text: "a", folder: "/x" },
      { text: "b", folder: "/y" },
      { text: "c", folder: "/x" },
      { text: "a", folder: "/x" },
    ];
    expect(promptsIn(all, "/x")).toEqual(["c", "a"]);
    expect(promptsForSearch(all, "/x")).toEqual(["b", "c", "a"]);
  });
});

describe("the history file", () => {
  test("is private, keeps prompts in order, and is shared by terminals", async () => {
    const folder = await temporaryFolder();
    const path = folder.join("session", "history.jsonl");
    const [first, second] = [new HistoryFile(path), new HistoryFile(path)];
    first.add({ text: "one", folder: "/x" });
    second.add({ text: "two\nlines", folder: "/y" });
    first.add({ text: "three", folder: "/x" });
    expect(new HistoryFile(path).read().map(({ text }) => text)).toEqual(["one", "two\nlines", "three"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(folder.join("session")).mode & 0o777).toBe(0o700);
  });

  test("never stores a prompt that begins with a space, repeats the last one, or is huge", async () => {
    const folder = await temporaryFolder();
    const file = new HistoryFile(folder.join("history.jsonl"));
    const stored = [" secret", "", "once", "once", "x".repeat(200_000)].map((text) =>
      file.add({ text, folder: "/" }),
    );
    expect(stored).toEqual([false, false, true, false, false]);
    expect(readFileSync(folder.join("history.jsonl"), "utf8")).not.toContain("secret");
  });

  test("skips damaged lines", async () => {
    const folder = await temporaryFolder();
    const path = folder.join("history.jsonl");
    const file = new HistoryFile(path);
    file.add({ text: "good", folder: "/" });
    appendFileSync(path, '{"text":"half\nnull\n{"text":1,"folder":"/"}\n\u0000\n');
    file.add({ text: "better", folder: "/" });
    expect(file.read().map(({ text }) => text)).toEqual(["good", "better"]);
  });

  test("is cut to its newest prompts when it grows too large", async () => {
    const folder = await temporaryFolder();
    const path = folder.join("history.jsonl");
    const line = (index: number) =>
      `${JSON.stringify({ text: `${index} ${"x".repeat(9_000)}`, folder: "/" })}\n`;
    writeFileSync(path, Array.from({ length: 500 }, (_, index) => line(index)).join(""));
    new HistoryFile(path).read();
    expect(statSync(path).size).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(new HistoryFile(path).read().at(-1)?.text).toMatch(/^499 /);
  });

  test("never writes through a link, and a folder that cannot be written costs nothing else", async () => {
    const folder = await temporaryFolder();
    writeFileSync(folder.join("target"), "");
    symlinkSync(folder.join("target"), folder.join("history.jsonl"));
    expect(new HistoryFile(folder.join("history.jsonl")).add({ text: "a", folder: "/" })).toBe(false);
    expect(readFileSync(folder.join("target"), "utf8")).toBe("");
    expect(new HistoryFile(folder.join("target", "x")).add({ text: "a", folder: "/" })).toBe(false);
    expect(new HistoryFile(folder.join("target", "x")).read()).toEqual([]);
  });
});

describe("drafts", () => {
  test("are kept per thread, private, and removed when they are empty", async () => {
    const folder = await temporaryFolder();
    const drafts = new Drafts(folder.join("drafts"));
    const image = { kind: "image" as const, name: "a.png", path: "/tmp/a.png" };
    const url = { kind: "part" as const, part: { type: "image" as const, url: "https://example.com/b.png" } };
    const draft = ["half a\nprompt ", image, { kind: "paste" as const, text: "pasted" }, url];
    drafts.write("thread-1", draft);
    drafts.write("../../etc/passwd", ["odd"]);
    expect([drafts.read("thread-1"), drafts.read("../../etc/passwd"), drafts.read("other")]).toEqual([
      draft,
      ["odd"],
      [],
    ]);
    expect(statSync(folder.join("drafts")).mode & 0o777).toBe(0o700);
    drafts.write("thread-1", [" \n"]);
    expect(new Drafts(folder.join("drafts")).read("thread-1")).toEqual([]);
  });

  test.each(["", "plain text", "{}", '[{"kind":"image"}]', '["cut', "[7]"])(
    "are empty if the file says %j",
    async (text) => {
      const folder = await temporaryFolder();
      const drafts = new Drafts(folder.path);
      drafts.write("thread", ["kept"]);
      const [name = ""] = readdirSync(folder.path);
      writeFileSync(folder.join(name), text);
      expect(drafts.read("thread")).toEqual([]);
    },
  );

  test("are bounded in number", async () => {
    const folder = await temporaryFolder();
    mkdirSync(folder.join("drafts"));
    const drafts = new Drafts(folder.join("drafts"));
    for (let index = 0; index < 205; index += 1) drafts.write(`thread-${index}`, ["text"]);
    const kept = Array.from({ length: 205 }, (_, index) => drafts.read(`thread-${index}`)).filter(
      ({ length }) => length > 0,
    );
    expect([kept.length, drafts.read("thread-204")]).toEqual([200, ["text"]]);
  });
});
