import type { EventBody, StoredEvent } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { textOf } from "../draw/line.ts";
import { playEvents, ThreadReplay } from "./thread-replay.ts";

const look = () => ({ columns: 60, rows: 24, colour: false, unicode: true });
const ofTurn = { threadId: "t", turnId: "u" };
const turn = { id: "u", status: "inProgress" as const, items: [], startedAtMs: 1_000 };

function logged(bodies: readonly (readonly [at: number, body: EventBody])[]): StoredEvent[] {
  return bodies.map(([at, body], index) => ({ ...body, at, seq: index + 1 }));
}

const EVENTS = logged([
  [1_000, { type: "turn/started", data: { threadId: "t", turn } }],
  [1_100, { type: "item/started", data: { ...ofTurn, item: { type: "agentMessage", id: "i", text: "" } } }],
  [1_500, { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i", delta: "one\n\n", offset: 0 } }],
  [9_500, { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i", delta: "two", offset: 5 } }],
  [
    9_500,
    {
      type: "item/completed",
      data: { ...ofTurn, item: { type: "agentMessage", id: "i", text: "one\n\ntwo" } },
    },
  ],
  [9_600, { type: "turn/completed", data: { threadId: "t", turn: { ...turn, status: "completed" } } }],
]);

test("a thread is played at its pace, faster if wanted, with long pauses shortened", async () => {
  const clock = new TestClock();
  const start = clock.now();
  const replay = new ThreadReplay({ threadId: "t", look });
  const first = new Map<string, number>();
  const show = () => {
    const { final, live } = replay.take("Ctrl-C to stop");
    for (const row of [...final, ...live].map(textOf)) {
      if (!first.has(row)) first.set(row, clock.now() - start);
    }
  };
  const playing = playEvents(EVENTS, replay, { speed: 2, clock, signal: new AbortController().signal, show });
  await clock.advance(2_000);
  await playing;
  // 500 ms at twice the speed; then 8 s, which are played as 2 s.
  expect([first.get("one"), first.get("two")]).toEqual([250, 1_250]);
});

test("playing stops at once when it is aborted", async () => {
  const stop = new AbortController();
  const replay = new ThreadReplay({ threadId: "t", look });
  const clock = new TestClock();
  const show = () => stop.abort();
  await playEvents(EVENTS, replay, { speed: 1, clock, signal: stop.signal, show });
  expect(replay.take("").final.map(textOf).join("")).not.toContain("two");
});

test("turns that are skipped are not drawn", () => {
  const replay = new ThreadReplay({ threadId: "t", look });
  replay.skip(EVENTS);
  expect(replay.take("")).toEqual({ final: [], live: [] });
});
