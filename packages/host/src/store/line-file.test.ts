import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { LineFile, type LineFileOptions } from "./line-file.ts";
import { type FaultPlan, faultyFiles } from "./testing/faulty-files.ts";

async function setUp(options: Partial<LineFileOptions> = {}) {
  const path = (await temporaryFolder()).join("folder/lines");
  const plan: FaultPlan = { calls: [] };
  const open = async () => {
    const lines: string[] = [];
    const file = await LineFile.open({ path, files: faultyFiles(plan), ...options }, (line) => {
      lines.push(line);
    });
    return { file, lines };
  };
  return { path, plan, open };
}

describe("a file of lines", () => {
  test("has what was appended when it is opened again", async () => {
    const { path, open } = await setUp();
    const { file } = await open();
    file.append(["one", "two"]);
    file.append([]);
    file.append(["drei ü"]);
    file.close();
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\ndrei ü\n");
    expect((await open()).lines).toEqual(["one", "two", "drei ü"]);
  });

  test("loses nothing that was appended when the disk is full, and keeps no part of what was not", async () => {
    const { path, plan, open } = await setUp();
    const { file } = await open();
    for (let room = 0; room < 9; room += 1) {
      file.append([`before ${room}`]);
      plan.room = room;
      expect(() => file.append(["a", "bcdefg"])).toThrow("the disk is full");
      plan.room = Number.POSITIVE_INFINITY;
    }
    file.append(["last"]);
    const expected = [...Array.from({ length: 9 }, (_, room) => `before ${room}`), "last"];
    expect(readFileSync(path, "utf8")).toBe(expected.map((line) => `${line}\n`).join(""));
  });

  test("writes all of a line that the system takes in pieces", async () => {
    const { path, plan, open } = await setUp();
    const { file } = await open();
    plan.fails = (call) => {
      if (call === "writeSync") plan.room = 3;
      return undefined;
    };
    file.append(["one long line", "and another"]);
    expect(readFileSync(path, "utf8")).toBe("one long line\nand another\n");
  });

  test("cuts off a torn line before the next one, if that was not possible at once", async () => {
    const { path, plan, open } = await setUp();
    const { file } = await open();
    file.append(["first"]);
    plan.room = 4;
    plan.fails = (call) => (call === "ftruncateSync" ? "EIO" : undefined);
    expect(() => file.append(["second"])).toThrow("the disk is full");
    expect(() => file.append(["third"])).toThrow();
    expect(readFileSync(path, "utf8")).toBe("first\nseco");
    plan.room = Number.POSITIVE_INFINITY;
    delete plan.fails;
    file.append(["fourth"]);
    expect(readFileSync(path, "utf8")).toBe("first\nfourth\n");
  });

  test("stores nothing more after a sync that failed", async () => {
    const { plan, open } = await setUp();
    const { file } = await open();
    file.append(["one"]);
    plan.fails = (call) => (call === "fdatasync" ? "EIO" : undefined);
    const both = [file.sync(), file.sync()];
    await expect(both[0]).rejects.toThrow("could not be synced to the disk");
    await expect(both[1]).rejects.toThrow("could not be synced to the disk");
    delete plan.fails;
    expect(() => file.append(["two"])).toThrow("until Flint is restarted");
    await expect(file.sync()).rejects.toThrow("until Flint is restarted");
  });

  test("stores nothing more after a sync at once that failed", async () => {
    const { plan, open } = await setUp();
    const { file } = await open();
    plan.fails = (call) => (call === "fdatasyncSync" ? "EIO" : undefined);
    expect(() => file.syncNow()).toThrow("could not be synced to the disk");
    delete plan.fails;
    expect(() => file.syncNow()).toThrow("until Flint is restarted");
  });

  test("lets many writers share a sync", async () => {
    const { plan, open } = await setUp();
    const { file } = await open();
    plan.calls.length = 0;
    const append = (line: string) => {
      file.append([line]);
      return file.sync();
    };
    await Promise.all(Array.from({ length: 50 }, (_, index) => append(`${index}`)));
    expect(plan.calls.filter((call) => call === "fdatasync")).toHaveLength(2);
  });

  test("is not synced if that was not asked for", async () => {
    const { plan, open } = await setUp({ durable: false });
    const { file } = await open();
    file.append(["one"]);
    await file.sync();
    file.syncNow();
    expect(plan.calls.filter((call) => /^f(?:data)?sync/.test(call))).toEqual([]);
  });

  test("is opened without its last line if that was cut off", async () => {
    const { path, open } = await setUp();
    (await open()).file.close();
    appendFileSync(path, "whole\nhalf");
    const { lines } = await open();
    expect(lines).toEqual(["whole"]);
    expect(readFileSync(path, "utf8")).toBe("whole\n");
  });

  test("is read in pieces, also in the middle of a line and of a character", async () => {
    const { path, plan, open } = await setUp();
    const { file } = await open();
    const lines = Array.from({ length: 50 }, (_, index) => `${index} ${"üx".repeat(index * 400)}`);
    file.append([...lines, "", "é".repeat(200_000), "last"]);
    file.close();
    appendFileSync(path, "x".repeat(100_000));
    const before = plan.calls.length;
    expect((await open()).lines).toEqual([...lines, "", "é".repeat(200_000), "last"]);
    expect(plan.calls.slice(before).filter((call) => call === "readSync").length).toBeGreaterThan(10);
    expect(readFileSync(path, "utf8").endsWith("\nlast\n")).toBe(true);
  });

  test("has a limit, for what is in it and for what is added", async () => {
    const { path, open } = await setUp({ limit: 10 });
    const { file } = await open();
    file.append(["12345678"]);
    expect(() => file.append(["1"])).toThrow(`${path} may have 10 bytes and is full`);
    file.close();
    writeFileSync(path, "x".repeat(11));
    await expect(open()).rejects.toThrow("has 11 bytes and may have 10. Move it away");
  });

  describe("that is compacted", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
    const compact = (file: LineFile, lines: readonly string[]) =>
      file.compact(
        () => lines.length,
        () => lines,
      );

    test("has the lines that are left, and what is appended later", async () => {
      const { path, open } = await setUp({ compactFrom: 10 });
      const { file } = await open();
      file.append(many(20));
      compact(file, ["a", "b"]);
      file.append(["c"]);
      await file.sync();
      expect(readFileSync(path, "utf8")).toBe("a\nb\nc\n");
      file.close();
      expect((await open()).lines).toEqual(["a", "b", "c"]);
    });

    test("is not compacted while it is small or mostly live", async () => {
      const { open } = await setUp({ compactFrom: 10 });
      const { file } = await open();
      let [counted, rewritten] = [0, 0];
      const look = (kept: number) =>
        file.compact(
          () => {
            counted += 1;
            return kept;
          },
          () => {
            rewritten += 1;
            return many(kept);
          },
        );
      file.append(many(9));
      look(0);
      expect(counted).toBe(0);
      file.append(many(1));
      look(9);
      look(9);
      // Not looked at again before it has grown.
      expect([counted, rewritten]).toEqual([1, 0]);
      file.close();
      expect((await open()).lines).toHaveLength(10);
    });

    test("stays as it was if there is no room for the new one", async () => {
      const { path, plan, open } = await setUp({ compactFrom: 10 });
      const { file } = await open();
      file.append(many(20));
      plan.room = 3;
      compact(file, ["long line"]);
      plan.room = Number.POSITIVE_INFINITY;
      file.append(["last"]);
      file.close();
      expect((await open()).lines).toEqual([...many(20), "last"]);
      expect(readdirSync(dirname(path))).toEqual(["lines"]);
    });

    test("stores nothing more if the disk may not have the new one", async () => {
      const { plan, open } = await setUp({ compactFrom: 10 });
      const { file } = await open();
      file.append(many(20));
      let renamed = false;
      plan.fails = (call) => {
        renamed ||= call === "renameSync";
        return renamed && call === "fsyncSync" ? "EIO" : undefined;
      };
      compact(file, []);
      expect(() => file.append(["next"])).toThrow("until Flint is restarted");
    });

    test("is not replaced under a sync", async () => {
      const { path, open } = await setUp({ compactFrom: 10 });
      const { file } = await open();
      file.append(many(20));
      const syncing = file.sync();
      compact(file, []);
      await syncing;
      expect(readFileSync(path, "utf8")).not.toBe("");
    });

    test("forgets what a process left that died meanwhile", async () => {
      const { path, open } = await setUp();
      (await open()).file.close();
      writeFileSync(`${path}.0123.tmp`, "half");
      await open();
      expect(readdirSync(dirname(path))).toEqual(["lines"]);
    });
  });

  test("is never a link", async () => {
    const { path, open } = await setUp();
    const folder = (await temporaryFolder()).path;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(`${folder}/elsewhere`, path);
    await expect(open()).rejects.toThrow(`${path} could not be opened`);
  });
});
