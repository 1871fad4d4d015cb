import { fileURLToPath } from "node:url";
import { agentProgram, needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { runNode } from "../bench/processes/child.ts";
import { piecesPerItem, stampedPiece, stampsIn } from "../bench/programs/order.ts";
import { compare, readTable, renderComparison } from "../bench/report/against.ts";
import { interleave } from "../bench/report/rounds.ts";
import { keepsTarget, type Row, ratioOf } from "../bench/report/row.ts";
import { lowest, median, quantile } from "../bench/report/statistics.ts";
import { formatAmount, renderTable } from "../bench/report/table.ts";

const row: Row = {
  figure: "cold start",
  value: 60,
  unit: "ms",
  floor: { name: "node -e 0", value: 40 },
  target: { of: "ratio", most: 1.8 },
};

test("statistics are taken from the values there are, in any order", () => {
  const values = [5, 1, 4, 2, 3, 100];
  expect([lowest(values), median(values), quantile(values, 0.95), quantile(values, 1)]).toEqual([
    1, 3, 100, 100,
  ]);
});

test("a quantile of one hundred values leaves out exactly the share above it", () => {
  const values = Array.from({ length: 100 }, (_, place) => place + 1);
  expect([quantile(values, 0.95), quantile(values, 0.99)]).toEqual([95, 99]);
});

test("statistics of nothing are an error, not a number", () => {
  expect(() => median([])).toThrow("Nothing was measured");
});

test("a ratio compares a value with its floor", () => {
  expect(ratioOf(row)).toBe(1.5);
  const { floor: _floor, ...alone } = row;
  expect(ratioOf(alone)).toBeUndefined();
});

test("a target is judged on the ratio or on the value, and the limit itself is still within it", () => {
  expect(keepsTarget(row)).toBe(true);
  expect(keepsTarget({ ...row, value: 72 })).toBe(true);
  expect(keepsTarget({ ...row, value: 73 })).toBe(false);
  expect(keepsTarget({ ...row, target: { of: "value", most: 59 } })).toBe(false);
});

test("a figure without a target is neither kept nor missed", () => {
  const { target: _target, ...informative } = row;
  expect(keepsTarget(informative)).toBeUndefined();
});

test("a ratio target without a floor is refused instead of counting as kept", () => {
  const { floor: _floor, ...alone } = row;
  expect(() => keepsTarget(alone)).toThrow('"cold start" has a ratio target but no floor');
});

test("amounts show three digits that count", () => {
  const shown = [formatAmount(0.123, "ms"), formatAmount(12.34, "MB"), formatAmount(1234.5, "/s")];
  expect(shown).toEqual(["0.12 ms", "12.3 MB", "1235/s"]);
});

test("the table has one aligned line for each figure, and says what could not be taken", () => {
  const rows = [
    row,
    { figure: "memory", value: 71, unit: "MB", target: { of: "value", most: 70 } } as const,
    { figure: "attach", reason: "the server ended" },
  ];
  expect(renderTable(rows).split("\n")).toEqual([
    "| figure     |   value | floor             | ratio | target      | result    |",
    "|------------|--------:|-------------------|------:|-------------|-----------|",
    "| cold start | 60.0 ms | 40.0 ms node -e 0 |  1.50 | ratio ≤ 1.8 | ok        |",
    "| memory     | 71.0 MB |                   |       | ≤ 70 MB     | over      |",
    "| attach     |         |                   |       |             | not taken |",
  ]);
});

test("things that are compared are measured in turns, and the first round does not count", async () => {
  const done: string[] = [];
  const times = await interleave(2, {
    one: async () => done.push("one"),
    two: async () => done.push("two"),
  });
  expect(done).toEqual(["two", "one", "one", "two", "two", "one"]);
  expect(times).toEqual({ one: [3, 6], two: [4, 5] });
});

test("the pieces of a turn are spread over its items without losing one", () => {
  expect(piecesPerItem({ deltas: 7, items: 3, perSecond: 0 })).toEqual([2, 2, 3]);
});

test("the moments in streamed text are found also when pieces were put together", () => {
  const pieces = [stampedPiece(), stampedPiece()];
  const stamps = stampsIn(pieces.join(""));
  expect(stamps).toEqual(pieces.flatMap(stampsIn));
  expect(stamps).toHaveLength(2);
});

test("two checkouts are compared by the medians of their printed rows", () => {
  const plain: Row = { figure: "peak", value: 80, unit: "MB" };
  const printed = (value: number) => readTable(renderTable([{ ...row, value }, plain]));
  expect(printed(60)).toEqual([
    { figure: "cold start", amount: 1.5 },
    { figure: "peak", amount: 80 },
  ]);
  const before = [printed(60), printed(400), printed(60)].map(([first]) => (first ? [first] : []));
  const after = [printed(66), printed(66), printed(40)];
  expect(renderComparison(compare(before, after)).split("\n").slice(2)).toEqual([
    "| cold start | 1.50 | 1.65 | +10 % |",
    "| peak | new | 80.00 |  |",
  ]);
});

test("a row that was not taken is not compared", () => {
  expect(readTable(renderTable([{ figure: "cold start", reason: "no build" }]))).toEqual([]);
});

needs("claude-agent-acp")("the program that Flint is compared with is the one of the tests", async () => {
  const finder = fileURLToPath(new URL("../bench/processes/find-peer.mjs", import.meta.url));
  expect(JSON.parse(await runNode([finder]))).toMatchObject({ path: agentProgram("claude-agent-acp") });
});
