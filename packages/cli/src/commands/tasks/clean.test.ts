import { describe, expect, it } from "vitest";
import { ageOf, cleanReport } from "./clean.ts";

const MIB = 1024 ** 2;

describe("flint tasks clean", () => {
  it("reads ages in minutes, hours, days and weeks", () => {
    expect(["90m", "12h", "7d", "2w"].map(ageOf)).toEqual([
      5_400_000, 43_200_000, 604_800_000, 1_209_600_000,
    ]);
  });

  it.each(["7", "d", "-1d", "1.5d", "7 d", "7days", ""])("rejects %j as an age", (text) => {
    expect(() => ageOf(text)).toThrow("such as 90m, 12h, 7d or 2w");
  });

  it("lists what goes, what stays and why, and the space that is left", () => {
    const task = { taskId: "t", updatedAtMs: 0, bytes: 3 * MIB };
    const report = cleanReport(
      {
        data: [
          { ...task, number: 1, phase: "done", title: "first" },
          { ...task, number: 2, phase: "failed", title: "second", kept: "failed" },
        ],
        freeBytes: 100 * MIB,
        minFreeBytes: 512 * MIB,
      },
      true,
    );
    expect(report.split("\n")).toEqual([
      "TASK  STATUS  SIZE     WORKTREE          TITLE",
      "#1    done    3.0 MiB  would be removed  first",
      "#2    failed  3.0 MiB  kept: failed      second",
      "",
      "Would remove 1 worktree, 3.0 MiB. 100.0 MiB are free, and tasks need 512.0 MiB to start a turn.",
      "",
    ]);
  });
});
