import { describe, expect, test } from "vitest";
import type { DeltaType } from "../events.ts";
import { DELTA_FIELDS, type ThreadItem } from "../items.ts";
import { after, command, ofTurn, STARTED } from "../testing/thread-events.ts";
import { appendAt } from "./thread-items.ts";

describe("an item", () => {
  test("starts whole, grows by deltas, and ends as its completion states [S0-41]", () => {
    const message = (text: string): ThreadItem => ({ type: "agentMessage", id: "i1", text });
    const grown = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: message("") } },
      { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i1", delta: "Hel", offset: 0 } },
      { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i1", delta: "lo", offset: 3 } },
    ]);
    expect([grown.turns[0]?.items, grown.openItemIds]).toEqual([[message("Hello")], ["i1"]]);
    const ended = after([{ type: "item/completed", data: { ...ofTurn, item: message("Hello!") } }], grown);
    expect([ended.turns[0]?.items, ended.openItemIds]).toEqual([[message("Hello!")], []]);
  });

  test.each([...DELTA_FIELDS])(
    "%s extends its field %s and nothing else [S0-46, S0-48, S0-49, S0-52, S0-58, S0-65]",
    (type, field) => {
      const item = { type: "extension", id: "i1", other: "same" };
      const data = { ...ofTurn, itemId: "i1", delta: "abc", offset: 0 };
      // The names of the table are the names of the delta events; a Map forgets that.
      const body = { type: type as DeltaType, data };
      const state = after([...STARTED, { type: "item/started", data: { ...ofTurn, item } }, body]);
      expect(state.turns[0]?.items).toEqual([{ ...item, [field]: "abc" }]);
    },
  );

  test("of an unknown turn, or a delta of an unknown item, changes nothing", () => {
    const state = after(STARTED);
    const stray = after(
      [
        { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i9", delta: "x", offset: 0 } },
        {
          type: "item/plan/delta",
          data: { threadId: "t1", turnId: "u9", itemId: "i9", delta: "x", offset: 0 },
        },
        { type: "item/completed", data: { threadId: "t1", turnId: "u9", item: command } },
      ],
      state,
    );
    expect(stray).toEqual({ ...state, seq: 5 });
  });
});

describe("text", () => {
  test.each([
    ["", "abc", 0, "abc"],
    ["abc", "def", 3, "abcdef"],
    ["abc", "abc", 0, "abc"],
    ["abc", "b", 1, "abc"],
    ["abc", "cde", 2, "abcde"],
  ])("%j extended by %j at %i is %j", (text, piece, offset, expected) => {
    expect(appendAt(text, piece, offset)).toBe(expected);
  });
});
