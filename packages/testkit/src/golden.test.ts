import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectGolden } from "./golden.ts";
import { temporaryFolder } from "./temp.ts";

describe("a golden file", () => {
  test("fits a value that is the same as JSON, however it is formatted", async () => {
    const folder = await temporaryFolder();
    await writeFile(folder.join("a.json"), '{"a":[1,2],\n"b":"x"}');
    expectGolden(folder.join("a.json"), { b: "x", a: [1, 2], nothing: undefined });
    expectGolden(pathToFileURL(folder.join("a.json")), { a: [1, 2], b: "x" });
  });

  test("fails on any difference", async () => {
    const folder = await temporaryFolder();
    await writeFile(folder.join("a.json"), '{"a":1}');
    expect(() => expectGolden(folder.join("a.json"), { a: 1, b: 2 })).toThrow("differs from");
    expect(() => expectGolden(folder.join("a.json"), {})).toThrow("differs from");
  });

  test("holds one element per line when its name ends in .jsonl", async () => {
    const folder = await temporaryFolder();
    await writeFile(folder.join("a.jsonl"), '{"a":1}\n{"a":2}\n');
    expectGolden(folder.join("a.jsonl"), [{ a: 1 }, { a: 2 }]);
    expect(() => expectGolden(folder.join("a.jsonl"), [{ a: 1 }])).toThrow("differs from");
    expect(() => expectGolden(folder.join("a.jsonl"), { a: 1 })).toThrow("holds an array");
  });

  test("fails when it is missing and explains how to write it", async () => {
    const folder = await temporaryFolder();
    expect(() => expectGolden(folder.join("none.json"), 1)).toThrow("FLINT_UPDATE_GOLDEN=1");
  });

  test("is rewritten on request", async () => {
    const folder = await temporaryFolder();
    const before = process.env.FLINT_UPDATE_GOLDEN;
    onTestFinished(() => {
      if (before === undefined) delete process.env.FLINT_UPDATE_GOLDEN;
      else process.env.FLINT_UPDATE_GOLDEN = before;
    });
    process.env.FLINT_UPDATE_GOLDEN = "1";
    expectGolden(folder.join("new/a.jsonl"), [{ a: 1 }, "two"]);
    expectGolden(folder.join("new/a.json"), { a: 1 });
    delete process.env.FLINT_UPDATE_GOLDEN;
    expect(await readFile(folder.join("new/a.jsonl"), "utf8")).toBe('{"a":1}\n"two"\n');
    expect(await readFile(folder.join("new/a.json"), "utf8")).toBe('{\n  "a": 1\n}\n');
    expectGolden(folder.join("new/a.json"), { a: 1 });
  });
});
