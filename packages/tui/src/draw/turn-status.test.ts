import { expect, test } from "vitest";
import { textOf } from "./line.ts";
import { statusLine, summaryBlock } from "./turn-status.ts";

const status = {
  activity: "Running a command",
  figures: ["12s", "3.2k tokens", "$0.01"],
  hint: "Ctrl-C to interrupt",
  tick: 0,
};

function shown(columns: number, unicode = true): string {
  return textOf(statusLine(status, { columns, rows: 20, colour: false, unicode }));
}

test("drops the least important parts of the status line first", () => {
  expect([shown(80), shown(60), shown(40), shown(24), shown(12)]).toEqual([
    "⠋ Running a command · 12s · 3.2k tokens · $0.01 · Ctrl-C to interrupt",
    "⠋ Running a command · 12s · 3.2k tokens · $0.01",
    "⠋ Running a command · 12s · 3.2k tokens",
    "⠋ Running a command",
    "⠋ Running …",
  ]);
});

test("uses ASCII symbols without Unicode", () => {
  expect(shown(40, false)).toBe("| Running a command | 12s | 3.2k tokens");
});

test("summarises a turn and how to continue", () => {
  const look = { columns: 80, rows: 20, colour: false, unicode: true };
  const cost = { amount: 0.5, currency: "USD" };
  const end = {
    status: "failed",
    error: "no\nkey",
    elapsedMs: 2_000,
    tokens: 1,
    cost,
    files: 2,
    resumeWith: "flint exec",
  } as const;
  expect(summaryBlock(end, look).head.map(textOf)).toEqual([
    "✗ Failed in 2.0s · 1 token · $0.500 · 2 files changed",
    "  no key",
    "  Continue: flint exec",
  ]);
  const least = { status: "completed", elapsedMs: 100, tokens: 0, files: 0 } as const;
  expect(summaryBlock(least, look).head.map(textOf)).toEqual(["✓ Done in 0.1s"]);
});
