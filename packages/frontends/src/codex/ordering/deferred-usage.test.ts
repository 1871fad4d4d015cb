import type { ThreadEvent, ThreadItem } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { DeferredUsage } from "./deferred-usage.ts";

describe("token usage", () => {
  test("comes after the item that it paid for", () => {
    const usages = new DeferredUsage();
    const ofTurn = { threadId: "t", turnId: "u" };
    const item: ThreadItem = { type: "agentMessage", id: "m", text: "" };
    const tokens = { inputTokens: 1, outputTokens: 1 };
    const usage: ThreadEvent = {
      type: "thread/tokenUsage/updated",
      data: { ...ofTurn, usage: tokens, last: tokens },
      at: 1,
    };
    const started: ThreadEvent = { type: "item/started", data: { ...ofTurn, item }, at: 1 };
    const completed: ThreadEvent = { type: "item/completed", data: { ...ofTurn, item }, at: 1 };
    const turn = { id: "u", status: "completed", items: [] } as const;
    const ended: ThreadEvent = {
      type: "turn/completed",
      data: { threadId: "t", turn: { ...turn, items: [] } },
      at: 1,
    };
    const events = [usage, started, completed, usage, started, usage, completed, usage, usage, ended];
    expect(events.flatMap((event) => usages.pass(event)).map(({ type }) => type)).toEqual([
      ...["item/started", "item/completed", "thread/tokenUsage/updated", "item/started"],
      ...["item/completed", "thread/tokenUsage/updated", "thread/tokenUsage/updated", "turn/completed"],
    ]);
  });

  test("does not wait for items that are not shown, such as an open task list", () => {
    const usages = new DeferredUsage();
    const ofTurn = { threadId: "t", turnId: "u" };
    const tasks: ThreadItem = { type: "plan", id: "p", text: "", entries: [] };
    const message: ThreadItem = { type: "agentMessage", id: "m", text: "" };
    const tokens = { inputTokens: 1, outputTokens: 1 };
    const item = (type: "item/started" | "item/completed", shown: ThreadItem): ThreadEvent => ({
      ...{ type, data: { ...ofTurn, item: shown }, at: 1 },
    });
    const usage: ThreadEvent = {
      ...{ type: "thread/tokenUsage/updated", data: { ...ofTurn, usage: tokens, last: tokens }, at: 1 },
    };
    const before = [
      item("item/started", tasks),
      item("item/started", message),
      item("item/completed", message),
    ];
    for (const event of before) expect(usages.pass(event)).toEqual([event]);
    expect(usages.pass(usage)).toEqual([usage]);
  });
});
