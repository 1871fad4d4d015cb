import { describe, expect, test } from "vitest";
import { EventsLaggedError } from "../errors.ts";
import type { AgentEvent } from "./agent-event.ts";
import { EventStream } from "./event-stream.ts";

function delta(itemId: string, text: string, offset: number, seq?: number): AgentEvent {
  const data = { threadId: "t", turnId: "u", itemId, delta: text, offset };
  return { type: "item/agentMessage/delta", data, ...(seq === undefined ? {} : { seq }) };
}

function named(name: string, seq?: number): AgentEvent {
  const data = { threadId: "t", name };
  return { type: "thread/name/updated", data, ...(seq === undefined ? {} : { seq }) };
}

async function readAll(stream: EventStream): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("a stream of events", () => {
  test("yields what waited and what arrives, in order, and then ends", async () => {
    const stream = new EventStream();
    stream.push(named("a"));
    const read = readAll(stream);
    stream.push(named("b"));
    await Promise.resolve();
    stream.push(named("c"));
    stream.end();
    expect(await read).toEqual([named("a"), named("b"), named("c")]);
  });

  test("preserves the order over thousands of events and changing speed", async () => {
    const stream = new EventStream({ events: 10, characters: 10_000_000 });
    const names = Array.from({ length: 5_000 }, (_, index) => `n${index}`);
    for (const name of names.slice(0, 3_000)) stream.push(named(name));
    const seen: AgentEvent[] = [];
    for (let count = 0; count < 2_500; count += 1) seen.push((await stream.next()).value ?? named("none"));
    for (const name of names.slice(3_000)) stream.push(named(name));
    stream.end();
    expect([...seen, ...(await readAll(stream))]).toEqual(names.map((name) => named(name)));
  });

  test("merges pieces of one text only while the reader is behind", async () => {
    const stream = new EventStream({ events: 2, characters: 10_000 });
    for (const [index, letter] of [..."abcdef"].entries()) stream.push(delta("i", letter, index));
    stream.end();
    expect(await readAll(stream)).toEqual([delta("i", "a", 0), delta("i", "b", 1), delta("i", "cdef", 2)]);
  });

  test("merges neither across items, nor across other events, nor over a gap", async () => {
    const stream = new EventStream({ events: 0, characters: 10_000 });
    const events = [
      delta("i", "a", 0),
      delta("j", "b", 0),
      named("x"),
      delta("j", "c", 1),
      delta("j", "e", 3),
      delta("j", "f", 4, 7),
    ];
    for (const event of events) stream.push(event);
    stream.end();
    expect(await readAll(stream)).toEqual(events);
  });

  test("does not repeat text that two pieces share", async () => {
    const stream = new EventStream({ events: 0, characters: 10_000 });
    stream.push(delta("i", "abc", 0, 4));
    stream.push(delta("i", "bcd", 1, 5));
    stream.end();
    expect(await readAll(stream)).toEqual([delta("i", "abcd", 0, 5)]);
  });

  test("ends with the position to attach again when too much waits", async () => {
    const stream = new EventStream({ events: 2, characters: 3_000 });
    stream.push(named("seen", 1));
    stream.push(named("also seen", 2));
    await stream.next();
    await stream.next();
    for (let seq = 3; seq < 100; seq += 1) stream.push(named("not seen", seq));
    const error = await stream.next().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EventsLaggedError);
    expect(error).toHaveProperty("lastSeqs", new Map([["t", 2]]));
    expect(error).toHaveProperty("message", expect.stringContaining("t after seq 2"));
  });

  test("counts merged text once, so that a long answer fits", async () => {
    const stream = new EventStream({ events: 1, characters: 5_000 });
    for (let offset = 0; offset < 1_000; offset += 1) stream.push(delta("i", "x", offset));
    stream.end();
    const events = await readAll(stream);
    expect(events.at(-1)).toEqual(delta("i", "x".repeat(999), 1));
  });

  test("reports once that reading has stopped", async () => {
    const stream = new EventStream();
    let released = 0;
    stream.onRelease(() => {
      released += 1;
    });
    stream.push(named("a"));
    stream.push(named("b"));
    for await (const event of stream) {
      expect(event).toEqual(named("a"));
      break;
    }
    stream.push(named("c"));
    stream.end();
    expect(released).toBe(1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("delivers buffered events before the error", async () => {
    const stream = new EventStream();
    stream.push(named("a"));
    stream.end(new Error("lost"));
    expect((await stream.next()).value).toEqual(named("a"));
    await expect(stream.next()).rejects.toThrow("lost");
  });
});
