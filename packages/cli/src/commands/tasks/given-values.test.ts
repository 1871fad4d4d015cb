import { expect, test } from "vitest";
import { startTimeOf } from "./given-values.ts";

/** In the time zone of the machine, as people mean it. */
const local = (text: string) => new Date(text).getTime();
const NOW = local("2026-11-18T13:30");

test.each([
  ["22:00", local("2026-11-18T22:00")],
  ["13:30", local("2026-11-19T13:30")],
  ["9:05", local("2026-11-19T09:05")],
  ["2026-11-20 22:00", local("2026-11-20T22:00")],
  ["2026-11-20T22:00:30", local("2026-11-20T22:00:30")],
  ["2026-11-20T22:00Z", Date.UTC(2026, 10, 20, 22)],
  ["2026-11-20T22:00+02:00", Date.UTC(2026, 10, 20, 20)],
])("%s is the next such time", (text, time) => {
  expect(startTimeOf(text, NOW)).toBe(time);
});

test.each([
  ["24:00", "--at: 24:00 is not a time. Write it as 22:00 or 2026-11-20 22:00."],
  ["tomorrow", "tomorrow is not a time"],
  ["2026-13-01 10:00", "is not a time"],
  ["2026-11-18 13:00", "2026-11-18 13:00 is in the past"],
])("%s is a usage error", (text, problem) => {
  expect(() => startTimeOf(text, NOW)).toThrow(problem);
});
