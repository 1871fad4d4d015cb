import type { UsageLimit } from "@flint/protocol";
import { expect, test } from "vitest";
import { limitTable } from "./limits.ts";

const now = new Date(2026, 10, 17, 12, 0).getTime();
const limit: UsageLimit = {
  agent: "codex",
  window: "5 hours",
  status: "ok",
  source: "frame",
  reportedAtMs: now,
};

const rowsOf = (...limits: UsageLimit[]) =>
  limitTable(limits, now)
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));

test("limits are shown with what is used, the time left and the local time of the reset", () => {
  expect(
    rowsOf(
      { ...limit, usedPercent: 81.6, resetsAtMs: now + 125 * 60_000 },
      {
        ...limit,
        agent: "claude",
        model: "opus",
        window: "7 days",
        status: "reached",
        resetsAtMs: now + 90_000_000,
      },
    ),
  ).toEqual([
    ["AGENT", "WINDOW", "USED", "RESETS"],
    ["codex", "5 hours", "82 %", "in 2 h 5 min (2026-11-17 14:05)"],
    ["claude (opus)", "7 days", "reached", "in 1 d 1 h (2026-11-18 13:00)"],
  ]);
});

test("marks guesses, unknown resets and limits that only the user can lift", () => {
  const text = { ...limit, window: "usage", status: "reached", source: "text", guessed: true } as const;
  expect(
    rowsOf({ ...text, resetsAtMs: now + 60_000 }, text, { ...limit, status: "reached", needsUser: true })
      .slice(1)
      .map((row) => row.at(-1)),
  ).toEqual([
    "in 1 min (2026-11-17 12:01, guessed from the error)",
    "unknown, guessed from the error",
    "no automatic reset: check the account's credit or plan",
  ]);
});

test("the name of a window cannot control the terminal", () => {
  expect(limitTable([{ ...limit, window: "5\u001b[2J" }], now)).not.toContain("\u001b");
});
