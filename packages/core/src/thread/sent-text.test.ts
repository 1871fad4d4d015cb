import type { StoredEvent } from "@flint/protocol";
import { expect, test } from "vitest";
import { SentText } from "./sent-text.ts";

function piece(
  itemId: string,
  offset: number,
  delta: string,
): Extract<StoredEvent, { type: "item/agentMessage/delta" }> {
  const data = { threadId: "t", turnId: "u", itemId, offset, delta };
  return { type: "item/agentMessage/delta", data, seq: 5, at: 0 };
}

test("only the part of a stored piece that was not told before is new", () => {
  const told = new SentText();
  told.add(piece("a", 0, "Hel"));
  told.add(piece("a", 3, "lo"));
  expect(told.unsentPartOf(piece("a", 0, "Hello, you"))).toEqual(piece("a", 5, ", you"));
  expect(told.unsentPartOf(piece("a", 0, "Hello"))).toBeUndefined();
  const later = piece("a", 5, ", you");
  expect(told.unsentPartOf(later)).toBe(later);
});

test("other items and other events are new as they are", () => {
  const told = new SentText();
  told.add(piece("a", 0, "Hello"));
  const other = piece("b", 0, "Hello");
  expect(told.unsentPartOf(other)).toBe(other);
  const archived: StoredEvent = { type: "thread/archived", data: { threadId: "t" }, seq: 6, at: 0 };
  expect(told.unsentPartOf(archived)).toBe(archived);
});

test("after it is forgotten everything is new again", () => {
  const told = new SentText();
  told.add(piece("a", 0, "Hello"));
  told.clear();
  const again = piece("a", 0, "Hello");
  expect(told.unsentPartOf(again)).toBe(again);
});
