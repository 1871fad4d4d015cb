import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import type { UsageLimit } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { UsageLimitsFile } from "./usage-limits-file.ts";

const LIMIT: UsageLimit = {
  ...{ agent: "codex", window: "5 hours", status: "ok", source: "frame", usedPercent: 3, reportedAtMs: 1 },
};

test("another server reads the limits, which only the user can", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("state/usage-limits.json");
  expect(new UsageLimitsFile(path).read()).toEqual([]);
  new UsageLimitsFile(path).write([LIMIT]);
  expect(new UsageLimitsFile(path).read()).toEqual([LIMIT]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.join("state"))).toEqual(["usage-limits.json"]);
});

test("a damaged file has no limits, and a failed write is ignored", async () => {
  const folder = await temporaryFolder();
  for (const content of ['[{"agent":"codex"', '[{"agent":"codex"}]', "{}", "null"]) {
    await writeFile(folder.join("limits.json"), content);
    expect(new UsageLimitsFile(folder.join("limits.json")).read()).toEqual([]);
  }
  await mkdir(folder.join("taken"));
  const unwritable = new UsageLimitsFile(folder.join("taken"));
  unwritable.write([LIMIT]);
  expect(unwritable.read()).toEqual([]);
});
