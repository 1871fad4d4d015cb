import { expect, test } from "vitest";
import { type CleanRequest, retentionReason, worktreesOverLimit } from "./clean-rules.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const ended = { id: "t1", phase: "done", updatedAt: NOW - DAY } as const;

const RECENT: CleanRequest = { olderThanMs: 2 * DAY };
const NAMED: CleanRequest = { taskIds: ["t1"] };

test.each([
  ["done", "done", {}, undefined],
  ["too recent", "done", RECENT, "too recent"],
  ["old enough", "done", { olderThanMs: DAY }, undefined],
  ["recent, but named", "done", { ...RECENT, ...NAMED }, undefined],
  ["failed", "failed", {}, "failed"],
  ["failed, with force", "failed", { force: true }, undefined],
  ["failed, but named", "failed", NAMED, undefined],
  ["not finished, though named", "asking", { ...NAMED, force: true }, "not finished"],
] as const)("the folders of a task that is %s", (_what, phase, request, reason) => {
  expect(retentionReason({ ...ended, phase }, request, NOW)).toBe(reason);
});

test("those that ended first go first when there are too many", () => {
  const later = { ...ended, id: "t2", updatedAt: NOW };
  const open = { ...ended, id: "t3", phase: "running" } as const;
  expect(worktreesOverLimit([later, ended, open], 2)).toEqual([ended]);
  expect(worktreesOverLimit([later, ended, open], 3)).toEqual([]);
});
