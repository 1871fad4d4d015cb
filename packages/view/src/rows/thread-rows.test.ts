import type { ThreadItem } from "@flint/protocol";
import { expect, test } from "vitest";
import { type Row, spanText } from "../row.ts";
import { EVERY_ITEM, turnWith } from "../testing/every-item.ts";
import { rowsOf } from "./thread-rows.ts";

const idle = { openItemIds: [] };
const task: ThreadItem = {
  type: "toolCall",
  id: "task",
  tool: "Task",
  title: "Find the bug",
  status: "inProgress",
};
const inner = (id: string, parentItemId: string): ThreadItem => ({
  ...{ type: "webSearch", id, query: id },
  _meta: { parentItemId },
});
const keys = (rows: readonly Row[]) => rows.map(({ key, depth }) => `${"  ".repeat(depth)}${key}`);
const words = ({ title, meta }: Row) =>
  [spanText(title), ...meta.map(({ text }) => text)].filter((text) => text !== "").join(" · ");

test("has the rows of all turns in order, and one for the end of each", () => {
  const turns = [
    turnWith([EVERY_ITEM.userMessage, EVERY_ITEM.agentMessage], { id: "one" }),
    turnWith([EVERY_ITEM.webSearch], { id: "two", status: "inProgress" }),
  ];
  expect(keys(rowsOf({ ...idle, turns }))).toEqual(["user", "message", "one/end", "search"]);
});

test("gives the same row for an unchanged item, whatever happens to others", () => {
  const turn = turnWith([EVERY_ITEM.agentMessage, EVERY_ITEM.webSearch], { status: "inProgress" });
  const before = rowsOf({ turns: [turn], openItemIds: ["search"] });
  const changed = { ...turn, items: [EVERY_ITEM.agentMessage, { ...EVERY_ITEM.webSearch, query: "more" }] };
  const after = rowsOf({ turns: [changed], openItemIds: ["search"] });
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(rowsOf({ turns: [turn], openItemIds: ["search"] })[0]).toBe(before[0]);
});

test("a text that is still streamed is in progress", () => {
  const turn = turnWith([EVERY_ITEM.agentMessage], { status: "inProgress" });
  expect(rowsOf({ turns: [turn], openItemIds: ["message"] })[0]?.status).toBe("inProgress");
  expect(rowsOf({ turns: [turn], openItemIds: [] })[0]?.status).toBe("completed");
});

test("shows the steps of a sub-agent below its call, and hides them when it has ended", () => {
  const items = [task, inner("a", "task"), EVERY_ITEM.webSearch, inner("b", "task"), inner("c", "a")];
  const turn = turnWith(items, { status: "inProgress" });
  expect(keys(rowsOf({ turns: [turn], openItemIds: ["task", "a"] }))).toEqual([
    "task",
    "  a",
    "    c",
    "  b",
    "search",
  ]);
  const done = turnWith([{ ...task, status: "completed" }, ...items.slice(1)]);
  const rows = rowsOf({ ...idle, turns: [done] });
  expect(keys(rows)).toEqual(["task", "search", "turn/end"]);
  expect(rows.slice(0, 1).map(words)).toEqual(["Find the bug · 2 steps"]);
  const open = rowsOf({ ...idle, turns: [done] }, new Map([["task", "open"]]));
  expect(keys(open)).toEqual(["task", "  a", "  b", "search", "turn/end"]);
});

test("items whose call is missing, or that name each other, are not lost", () => {
  const circle = [inner("a", "b"), inner("b", "a"), inner("c", "c"), inner("d", "gone")];
  const turn = turnWith(circle, { status: "inProgress" });
  const shown = keys(rowsOf({ turns: [turn], openItemIds: ["a", "b"] }));
  expect(shown.map((key) => key.trim()).sort()).toEqual(["a", "b", "c", "d"]);
});

test("remembers what the user has opened and closed", () => {
  const turns = [turnWith([EVERY_ITEM.reasoning])];
  expect(rowsOf({ ...idle, turns })[0]?.fold).toBe("closed");
  expect(rowsOf({ ...idle, turns }, new Map([["thought", "open"]]))[0]?.fold).toBe("open");
  expect(rowsOf({ ...idle, turns: [turnWith([EVERY_ITEM.agentMessage])] })[0]?.fold).toBeUndefined();
});

test("shows the progress of an MCP call while it runs", () => {
  const call = { ...EVERY_ITEM.toolCall, status: "inProgress" } as const;
  const turn = turnWith([call], { status: "inProgress" });
  const live = { progress: new Map([["tool", "3 of 7 pages"]]) };
  const [row] = rowsOf({ turns: [turn], openItemIds: ["tool"] }, new Map(), live);
  expect(row && words(row)).toBe("read_file · src/app.ts, first line 10 · 3 of 7 pages");
});

test("the end of a turn says how long it worked, without the time that it waited for the user", () => {
  const turn = turnWith([EVERY_ITEM.fileChange], {
    ...{ durationMs: 75_000, waitedMs: 63_000 },
    ...{ usage: { inputTokens: 1_200, outputTokens: 34 }, cost: { amount: 0.021, currency: "USD" } },
  });
  const [, end] = rowsOf({ ...idle, turns: [turn] });
  expect(end && words(end)).toBe(
    "Done · in 12s · waited 1m 03s for you · 1.2k tokens · $0.021 · 2 files changed",
  );
  expect(end?.durationMs).toBe(12_000);
});

test("the end of a turn says what was not allowed, and why it failed", () => {
  const declined = [{ itemId: "x", what: "npm publish", reason: "a rule", by: "rule" as const }];
  const [end] = rowsOf({
    ...idle,
    turns: [turnWith([], { status: "failed", error: { message: "no key" }, declined })],
  });
  expect(end).toMatchObject({
    status: "failed",
    body: [
      { kind: "error", text: "no key" },
      { kind: "declined", what: "npm publish", reason: "a rule" },
    ],
  });
});

test("a turn that the agent started says so", () => {
  const turn = turnWith([], { _meta: { startedBy: "agent", reason: "a background task ended" } });
  const [start] = rowsOf({ ...idle, turns: [turn] });
  expect(start && words(start)).toBe("The agent continued on its own: a background task ended");
});

test("ten thousand items cost next to nothing when one of them changes", () => {
  const turns = Array.from({ length: 1_000 }, (_, at) =>
    turnWith(
      Array.from({ length: 10 }, (__, place) => ({ ...EVERY_ITEM.webSearch, id: `${at}.${place}` })),
      { id: `t${at}` },
    ),
  );
  const first = rowsOf({ ...idle, turns });
  const last = { ...turnWith([{ ...EVERY_ITEM.webSearch, id: "new" }]), id: "t999" };
  const second = rowsOf({ ...idle, turns: turns.with(-1, last) });
  expect(second.length).toBe(999 * 11 + 2);
  expect(second.slice(0, 999 * 11).every((row, at) => row === first[at])).toBe(true);
});
