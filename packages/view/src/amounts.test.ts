import { expect, test } from "vitest";
import { ageOf, budget, count, duration, money, shortFolder, size, tokens } from "./amounts.ts";

test("times are as exact as they need to be", () => {
  expect([40, 1_240, 9_949, 12_400, 59_600, 65_000, 3_725_000].map(duration)).toEqual([
    "0.0s",
    "1.2s",
    "9.9s",
    "12s",
    "1m 00s",
    "1m 05s",
    "1h 02m",
  ]);
});

test("sizes are formatted in the unit that fits", () => {
  expect([1, 512, 1_536, 3_355_443].map(size)).toEqual(["1 byte", "512 bytes", "1.5 KiB", "3.2 MiB"]);
});

test("tokens are counted in thousands and millions", () => {
  expect([1, 999, 1_240, 120_400, 1_250_000].map(tokens)).toEqual([
    "1 token",
    "999 tokens",
    "1.2k tokens",
    "120k tokens",
    "1.3M tokens",
  ]);
});

test("small money is not shown as nothing", () => {
  const usd = (amount: number) => money({ amount, currency: "USD" });
  expect([usd(0), usd(0.00042), usd(0.0312), usd(12.5), money({ amount: 2, currency: "EUR" })]).toEqual([
    "$0.00",
    "$0.0004",
    "$0.031",
    "$12.50",
    "2.00 EUR",
  ]);
});

test("a noun follows its number", () => {
  expect([count(1, "file"), count(2, "file")]).toEqual(["1 file", "2 files"]);
});

test("an estimate is not shown as an exact amount", () => {
  expect(money({ amount: 0.14, currency: "USD", estimated: true })).toBe("about $0.140");
});

test("the limits of a budget are named for each turn and for the thread", () => {
  const turn = { costUsd: 2, seconds: 300, steps: 1 };
  expect(budget({ turn, thread: { tokens: 1_000_000, turns: 3 } })).toBe(
    "$2.00, 5m 00s, 1 model call per turn; 1.0M tokens, 3 turns per thread",
  );
  expect(budget({})).toBe("");
});

test("ages are whole units of the largest that fits", () => {
  const ages = [0, 59_999, 60_000, 3_600_000, 2 * 86_400_000, -5].map((ago) => ageOf(1e9, 1e9 + ago));
  expect(ages).toEqual(["just now", "just now", "1 min ago", "1 h ago", "2 d ago", "just now"]);
});

test("a folder in the user's home begins with a tilde, and no other does", () => {
  const folders = ["/home/ann", "/home/ann/work", "/home/anna", "/"];
  expect(folders.map((folder) => shortFolder(folder, "/home/ann"))).toEqual([
    "~",
    "~/work",
    "/home/anna",
    "/",
  ]);
  expect(folders.map((folder) => shortFolder(folder, "/"))).toEqual(folders);
  expect(shortFolder("/work", undefined)).toBe("/work");
});
