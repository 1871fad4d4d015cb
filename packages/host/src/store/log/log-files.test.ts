import { copyFileSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { NODE_FILES, OPEN, openPrivate } from "../file-system.ts";
import { LogFile, LogFiles } from "./log-files.ts";

/** Logs of a pool that keeps two of them open. */
async function twoOpen(count: number) {
  const folder = await temporaryFolder();
  const pool = new LogFiles(2);
  return Array.from({ length: count }, (_, index) => {
    const path = folder.join(`log${index}`);
    return new LogFile(NODE_FILES, pool, path, openPrivate(NODE_FILES, path, OPEN.createLog));
  });
}

const append = (log: LogFile | undefined, text: string): number =>
  NODE_FILES.writeSync(log?.descriptor ?? -1, Buffer.from(text));

describe("a log that was closed because others were used", () => {
  test("is opened again, and continues where it was", async () => {
    const logs = await twoOpen(3);
    for (const text of ["one ", "two ", "three"]) for (const log of logs) append(log, text);
    for (const log of logs) {
      expect(readFileSync(log.path, "utf8")).toBe("one two three");
      expect(log.isInPlace).toBe(true);
      log.close();
    }
  });

  test("is not opened if another file took its place", async () => {
    const [first] = await twoOpen(3);
    const path = first?.path ?? "";
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    expect(first?.isInPlace).toBe(false);
    expect(() => append(first, "lost")).toThrow("was replaced");
  });

  test("is not opened if it grew meanwhile, as a new file with the same number would", async () => {
    const [first] = await twoOpen(3);
    writeFileSync(first?.path ?? "", "someone else");
    expect(first?.isInPlace).toBe(false);
    expect(() => append(first, "lost")).toThrow("was replaced");
  });

  test("is not created again if it was deleted", async () => {
    const [first] = await twoOpen(3);
    unlinkSync(first?.path ?? "");
    expect(first?.isInPlace).toBe(false);
    expect(() => append(first, "lost")).toThrow("ENOENT");
  });
});

test("a log that is held stays open", async () => {
  const [first, ...others] = await twoOpen(4);
  append(first, "x");
  const release = first?.hold();
  const descriptor = first?.descriptor;
  for (const log of others) append(log, "y");
  expect(first?.descriptor).toBe(descriptor);
  release?.();
  expect(first?.suspend()).toBe(true);
});
