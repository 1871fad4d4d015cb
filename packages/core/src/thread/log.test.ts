import { type EventBody, emptyThread, type StoredEvent } from "@flint/protocol";
import { settled, TestClock } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import type { ThreadWriter } from "../ports/index.ts";
import { ThreadLog } from "./log.ts";

const PLACE = { type: "item/agentMessage/delta", threadId: "t", turnId: "u", itemId: "m" } as const;

/** A log whose subscriber and writer record what they get, in order. */
async function notedLog() {
  const clock = new TestClock();
  const notes: string[] = [];
  let seq = 0;
  const writer: ThreadWriter = {
    epoch: "e",
    append(bodies, at) {
      notes.push(`stored ${bodies.map(textOf).join()}`);
      return bodies.map((body): StoredEvent => {
        seq += 1;
        return { ...body, seq, at };
      });
    },
    sync: async () => undefined,
    checkpoint: () => undefined,
    close: async () => undefined,
  };
  const log = new ThreadLog({ writer, state: emptyThread("t"), clock, read: async function* () {} });
  const send = (event: EventBody) => {
    // As a connection does: what was sent leaves at the end of the tick.
    queueMicrotask(() => notes.push(`sent ${textOf(event)}`));
  };
  await log.subscribe({ send, isFull: () => false }, 0).start([]);
  const say = async (piece: string) => {
    log.delta(PLACE, piece);
    await settled();
  };
  return { clock, notes, say };
}

function textOf(body: EventBody): string {
  return body.type === "item/agentMessage/delta" ? body.data.delta : body.type;
}

describe("streamed text", () => {
  test("is sent at once and stored as one record when the flush timer fires", async () => {
    const { clock, notes, say } = await notedLog();
    await say("a");
    await clock.advance(50);
    await say("b");
    expect(notes).toEqual(["sent a", "sent b"]);
    await clock.advance(49);
    expect(notes).toHaveLength(2);
    await clock.advance(1);
    expect(notes.slice(2)).toEqual(["stored ab"]);
  });

  test("is stored right behind a piece when the flush is nearly due, so that the next one need not wait", async () => {
    const { clock, notes, say } = await notedLog();
    await say("a");
    await clock.advance(79);
    await say("b");
    expect(notes).toEqual(["sent a", "sent b"]);
    await clock.advance(1);
    await say("c");
    expect(notes.slice(2)).toEqual(["sent c", "stored abc"]);
    expect(clock.pending).toBe(0);
  });

  test("waits for the timer again after that, and stores each piece once", async () => {
    const { clock, notes, say } = await notedLog();
    for (const piece of "abcdef") {
      await say(piece);
      await clock.advance(45);
    }
    expect(notes).toEqual([
      ...["sent a", "sent b", "sent c", "stored abc", "sent d", "sent e", "sent f", "stored def"],
    ]);
  });
});
