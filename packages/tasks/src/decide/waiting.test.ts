import type { LimitPolicy, UsageLimit } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { afterQuietHours, backoffUntil, resumption } from "./waiting.ts";

const NOW = new Date(2026, 10, 20, 21, 0).getTime();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const POLICY: LimitPolicy = { resume: "auto", maxWaitSeconds: 86_400 };

function limit(change: Partial<UsageLimit> = {}): UsageLimit {
  const known = { agent: "claude", window: "5 hours", status: "reached", source: "frame" } as const;
  return { ...known, reportedAtMs: NOW, resetsAtMs: NOW + HOUR, ...change };
}

function after(given: UsageLimit, policy: Partial<LimitPolicy> = {}, repeats = 0) {
  return resumption(given, { ...POLICY, ...policy }, { now: NOW, random: 0, repeats });
}

describe("a task at a usage limit", () => {
  test("continues a little after the reset, each at another time", () => {
    expect(after(limit())).toEqual({ untilMs: NOW + HOUR + 30_000 });
    const late = resumption(limit(), POLICY, { now: NOW, random: 1, repeats: 0 });
    expect(late).toEqual({ untilMs: NOW + HOUR + 120_000 });
  });

  test("waits at least a minute when the reset is in the past, and longer each time it was wrong", () => {
    const past = limit({ resetsAtMs: NOW - HOUR });
    const waits = [0, 1, 2, 3, 4, 9].map((repeats) => after(past, {}, repeats));
    expect(waits).toEqual([1, 1, 5, 15, 60, 60].map((minutes) => ({ untilMs: NOW + minutes * MINUTE })));
  });

  test.each([
    ["the user wants to be asked", limit(), { resume: "ask" }, "Continue after the reset?"],
    ["waiting does not help", limit({ needsUser: true }), {}, "needs more credit"],
    ["the reset time is unknown", limit({ resetsAtMs: undefined }), {}, "did not report when"],
    ["the reset is too far away", limit({ resetsAtMs: NOW + 48 * HOUR }), {}, "beyond the maximum wait"],
  ] as const)("asks when %s", (_why, given, policy, message) => {
    expect(after(given, policy)).toEqual({ ask: expect.stringContaining(message) });
  });

  test("does not continue in quiet hours", () => {
    const quietHours = { from: "22:00", to: "07:00" };
    const morning = new Date(2026, 10, 21, 7, 0).getTime();
    expect(after(limit({ resetsAtMs: NOW + 2 * HOUR }), { quietHours })).toEqual({ untilMs: morning });
    expect(after(limit(), { quietHours: { from: "01:00", to: "07:00" } })).toEqual({
      untilMs: NOW + HOUR + 30_000,
    });
    expect(afterQuietHours(morning, quietHours)).toBe(morning);
  });
});

test("a failure that may pass is tried again after 1, 5, 15, 60 and 60 minutes, and then no more", () => {
  const pauses = [0, 1, 2, 3, 4, 5].map((failures) => backoffUntil(failures, 0, 0));
  expect(pauses).toEqual([...[1, 5, 15, 60, 60].map((minutes) => minutes * MINUTE), undefined]);
});
