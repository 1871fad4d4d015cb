import { describe, expect, test } from "vitest";
import { mentionsUsageLimit, resetInText } from "./reset-text.ts";

const now = Date.UTC(2026, 10, 17, 12, 0);
const at = (text: string) => {
  const reset = resetInText(text, now);
  return reset === undefined ? undefined : new Date(reset).toISOString();
};

describe("the reset time in the text of an error", () => {
  test.each([
    ["Claude AI usage limit reached|1794924000", "2026-11-17T14:00:00.000Z"],
    ["Claude AI usage limit reached|1794924000000", "2026-11-17T14:00:00.000Z"],
    ["You've hit your limit · resets 1am (Europe/Berlin)", "2026-11-18T00:00:00.000Z"],
    ["You've hit your limit · resets 1:30am (Asia/Tokyo)", "2026-11-17T16:30:00.000Z"],
    ["You've hit your limit · resets Nov 20 at 3pm (America/New_York)", "2026-11-20T20:00:00.000Z"],
    ["You've hit your limit · resets Jan 2 at 9am (UTC)", "2027-01-02T09:00:00.000Z"],
    ["You've hit your usage limit. Try again in 3 hours 5 minutes.", "2026-11-17T15:05:00.000Z"],
    ["Rate limit exceeded, try again in 2 days", "2026-11-19T12:00:00.000Z"],
  ])("%s", (text, expected) => {
    expect(at(text)).toBe(expected);
  });

  test("a time without a zone is the next one on this machine", () => {
    const reset = resetInText("try again at 6:34 AM.", now) ?? 0;
    expect(reset - now).toBeGreaterThan(0);
    expect(reset - now).toBeLessThanOrEqual(86_400_000);
    expect([new Date(reset).getHours(), new Date(reset).getMinutes()]).toEqual([6, 34]);
  });

  test("after the clocks change, the time is that of the wall clock", () => {
    const before = Date.UTC(2026, 9, 24, 20, 0);
    expect(resetInText("resets Oct 25 at 9am (Europe/Berlin)", before)).toBe(Date.UTC(2026, 9, 25, 8, 0));
  });

  test("nothing is read from other texts, or from a zone that does not exist", () => {
    for (const text of ["", "resets soon", "try again in a moment", "resets 1am (Atlantis/Central)", "|17"])
      expect(at(text)).toBeUndefined();
  });
});

test("a text about a limit is recognized, and one that only mentions limits is not", () => {
  expect(mentionsUsageLimit("Claude AI usage limit reached|1790000000")).toBe(true);
  expect(mentionsUsageLimit("You've hit your usage limit.")).toBe(true);
  expect(mentionsUsageLimit("The file exceeds the size limit of the tool.")).toBe(false);
});
