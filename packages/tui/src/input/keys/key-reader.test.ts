import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { type InputEvent, keyName } from "./input-event.ts";
import { KeyReader } from "./key-reader.ts";

const ESC = "\u001b";

function reading() {
  const clock = new TestClock();
  const batches: unknown[][] = [];
  const reader = new KeyReader(clock, (events) => batches.push(events.map(short)));
  return { clock, batches, reader, type: (text: string) => reader.push(Buffer.from(text)) };
}

function short(event: InputEvent): unknown {
  return event.type === "key" ? keyName(event) : event;
}

test("reports a lone Escape after a moment, and has no timer after that", async () => {
  const { clock, batches, type } = reading();
  type(ESC);
  expect(batches).toEqual([]);
  await clock.advance(50);
  expect(batches).toEqual([["escape"]]);
  expect(clock.pending).toBe(0);
});

test("waits again when more of a sequence arrives", async () => {
  const { clock, batches, type } = reading();
  type(ESC);
  await clock.advance(40);
  type("[1;");
  await clock.advance(400);
  type("2A");
  await clock.advance(10_000);
  expect([batches, clock.pending]).toEqual([[["shift+up"]], 0]);
});

test("delivers keys that arrive together at once", () => {
  const { batches, type } = reading();
  type("ls\r");
  type("x");
  expect(batches).toEqual([["l", "s", "enter"], ["x"]]);
});

test("makes a paste of lines that arrive at once", () => {
  const { batches, type } = reading();
  type("first line\rsecond\tline\rthird");
  expect(batches).toEqual([[{ type: "paste", text: "first line\nsecond\tline\nthird", dropped: 0 }]]);
});

test("makes a paste of much text that arrives at once, so that it is not handled key by key", () => {
  const { batches, type } = reading();
  type("word ".repeat(1_000));
  expect(batches).toEqual([[{ type: "paste", text: "word ".repeat(1_000), dropped: 0 }]]);
});

test("keeps keys that were typed ahead as keys", () => {
  const { batches, type } = reading();
  type("yes\rno\r");
  type(`${ESC}[Aone two three\r${ESC}[Bfour five six`);
  expect(batches[0]).toEqual(["y", "e", "s", "enter", "n", "o", "enter"]);
  expect(batches[1]?.slice(0, 2)).toEqual(["up", "o"]);
});

test("forgets half a sequence when it is reset", async () => {
  const { clock, batches, reader, type } = reading();
  type(`${ESC}[1;`);
  reader.reset();
  type("A");
  await clock.advance(10_000);
  expect([batches, clock.pending]).toEqual([[["shift+a"]], 0]);
});
