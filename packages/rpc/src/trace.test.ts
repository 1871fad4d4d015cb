import { expect, it } from "vitest";
import { cappedTrace } from "./trace.ts";

it("passes short payloads on as they are", () => {
  const seen: string[][] = [];
  const trace = cappedTrace((...entry) => seen.push(entry), { maxLine: 10, maxTotal: 100 });
  trace("in", "raw", "short");
  trace("out", "failed", "0123456789");
  expect(seen).toEqual([
    ["in", "raw", "short"],
    ["out", "failed", "0123456789"],
  ]);
});

it("cuts a long payload and says how long it was", () => {
  const seen: string[] = [];
  const trace = cappedTrace((_direction, _stage, payload) => seen.push(payload), {
    maxLine: 4,
    maxTotal: 100,
  });
  trace("in", "raw", "0123456789");
  expect(seen).toEqual(["0123 [cut: 10 characters in all]"]);
});

it("stops at the total and says so once [S4-50]", () => {
  const seen: string[] = [];
  const trace = cappedTrace((_direction, _stage, payload) => seen.push(payload), {
    maxLine: 5,
    maxTotal: 10,
  });
  for (const payload of ["aaaaa", "bbbbb", "ccccc", "ddddd"]) trace("in", "raw", payload);
  expect(seen).toEqual(["aaaaa", "bbbbb", "[trace stops here: 10 characters traced]"]);
});
