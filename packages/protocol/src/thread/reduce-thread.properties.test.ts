import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventBody, StoredEvent } from "../events.ts";
import type { ThreadItem } from "../items.ts";
import { reduceThread } from "./reduce-thread.ts";
import { appendAt } from "./thread-items.ts";
import { emptyThread, type ThreadState } from "./thread-state.ts";

const RUNS = { seed: 7, numRuns: 300 };

const thread = { ...emptyThread("t1").thread, modelProvider: "flint", model: "flint/offline" };
const { settings } = emptyThread("t1");
const turnId = fc.constantFrom("u1", "u2", "u3");
const itemId = fc.constantFrom("i1", "i2", "i3");
const askId = fc.constantFrom("a1", "a2");
const tokens = fc.nat({ max: 1000 });
const usage = fc.record({ inputTokens: tokens, outputTokens: tokens });

const item: fc.Arbitrary<ThreadItem> = fc.oneof(
  fc.record({ type: fc.constant("agentMessage"), id: itemId, text: fc.string({ maxLength: 5 }) }),
  fc.record({
    type: fc.constant("userMessage" as const),
    id: itemId,
    content: fc.constant([{ type: "text" as const, text: "Hello" }]),
  }),
  fc.record({ type: fc.constant("hologram"), id: itemId }),
);

const action = { kind: "command", itemId: "i1", command: "ls", cwd: "/" } as const;
const times = { requestedAtMs: 1, expiresAtMs: 2 };

/** Any event that a log can hold, in any order: the fold must be total, not only right for well-behaved agents. */
const body: fc.Arbitrary<EventBody> = fc.oneof(
  turnId.map(
    (id): EventBody => ({
      type: "turn/started",
      data: { threadId: "t1", turn: { id, status: "inProgress", items: [] } },
    }),
  ),
  fc.tuple(turnId, fc.constantFrom("completed", "interrupted", "failed"), fc.boolean()).map(
    ([id, status, bare]): EventBody => ({
      type: "turn/completed",
      data: { threadId: "t1", turn: { id, status, items: [], itemsView: bare ? "notLoaded" : "full" } },
    }),
  ),
  fc
    .tuple(fc.constantFrom("item/started", "item/completed"), turnId, item)
    .map(([type, turn, each]): EventBody => ({ type, data: { threadId: "t1", turnId: turn, item: each } })),
  fc.tuple(turnId, itemId, fc.string({ maxLength: 5 }), fc.nat({ max: 8 })).map(
    ([turn, id, delta, offset]): EventBody => ({
      type: "item/agentMessage/delta",
      data: { threadId: "t1", turnId: turn, itemId: id, delta, offset },
    }),
  ),
  fc.tuple(askId, turnId).map(
    ([id, turn]): EventBody => ({
      type: "approval/requested",
      data: { threadId: "t1", approval: { id, turnId: turn, action, ...times } },
    }),
  ),
  fc.tuple(askId, turnId, fc.constantFrom("once", "session")).map(
    ([approvalId, turn, scope]): EventBody => ({
      type: "approval/resolved",
      data: {
        threadId: "t1",
        turnId: turn,
        approvalId,
        itemId: "i1",
        resolution: { decision: { outcome: "allow", scope }, by: "client" },
      },
    }),
  ),
  fc.tuple(askId, turnId).map(
    ([id, turn]): EventBody => ({
      type: "question/requested",
      data: { threadId: "t1", request: { id, turnId: turn, itemId: "i1", questions: [], ...times } },
    }),
  ),
  fc.tuple(askId, turnId).map(
    ([questionId, turn]): EventBody => ({
      type: "question/resolved",
      data: { threadId: "t1", turnId: turn, questionId, itemId: "i1", answers: {}, by: "client" },
    }),
  ),
  fc.tuple(turnId, usage, usage).map(
    ([turn, total, last]): EventBody => ({
      type: "thread/tokenUsage/updated",
      data: { threadId: "t1", turnId: turn, usage: total, last },
    }),
  ),
  fc.string().map((name): EventBody => ({ type: "thread/name/updated", data: { threadId: "t1", name } })),
  fc
    .array(turnId)
    .map((turnIds): EventBody => ({ type: "thread/reverted", data: { threadId: "t1", turnIds } })),
  turnId.map(
    (id): EventBody => ({
      type: "thread/revert/undone",
      data: { threadId: "t1", revertId: "r1", turns: [{ id, status: "completed", items: [] }] },
    }),
  ),
);

const log: fc.Arbitrary<StoredEvent[]> = fc.array(body, { maxLength: 40 }).map((bodies) => {
  const started: EventBody = { type: "thread/started", data: { thread, settings } };
  return [started, ...bodies].map((each, index) => ({ ...each, seq: index + 1, at: 1000 * index }));
});

function fold(events: readonly StoredEvent[], state: ThreadState = emptyThread("t1")): ThreadState {
  return events.reduce(reduceThread, state);
}

/** Frozen: throws in strict mode on any write. */
function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

describe("for any log", () => {
  test("the state at any point, followed by the later events, equals the state of all events", () => {
    fc.assert(
      fc.property(log, fc.nat(), (events, cut) => {
        const at = cut % (events.length + 1);
        expect(fold(events.slice(at), fold(events.slice(0, at)))).toEqual(fold(events));
      }),
      RUNS,
    );
  });

  test("later events that overlap the state change nothing", () => {
    fc.assert(
      fc.property(log, fc.nat(), fc.nat(), (events, cut, back) => {
        const at = cut % (events.length + 1);
        const from = back % (at + 1);
        expect(fold(events.slice(from), fold(events.slice(0, at)))).toEqual(fold(events));
      }),
      RUNS,
    );
  });

  test("an event that was applied before is ignored, whatever its content", () => {
    fc.assert(
      fc.property(log, body, fc.nat(), (events, late, position) => {
        const state = fold(events);
        const seq = (position % state.seq) + 1;
        expect(reduceThread(state, { ...late, seq, at: 5 })).toBe(state);
      }),
      RUNS,
    );
  });

  test("the fold mutates neither the state nor the event", () => {
    fc.assert(
      fc.property(log, (events) => {
        const state = events
          .map(frozen)
          .reduce((before, event) => frozen(reduceThread(before, event)), emptyThread("t1"));
        expect(state).toEqual(fold(events));
      }),
      RUNS,
    );
  });

  test("the status is whether a turn runs and what it waits for", () => {
    fc.assert(
      fc.property(log, (events) => {
        const state = fold(events);
        const { status } = state.thread;
        expect(status.type).toBe(state.activeTurnId === undefined ? "idle" : "active");
        if (status.type !== "active") return;
        expect(status.activeFlags?.includes("waitingOnApproval")).toBe(state.approvals.length > 0);
        expect(status.activeFlags?.includes("waitingOnUserInput")).toBe(state.questions.length > 0);
      }),
      RUNS,
    );
  });
});

/** A text and where it is cut: the ends of its pieces, rising. */
const cutText = fc.string({ minLength: 1, maxLength: 30 }).chain((text) =>
  fc.record({
    text: fc.constant(text),
    live: fc.array(fc.nat({ max: text.length }), { maxLength: 5 }),
    stored: fc.array(fc.nat({ max: text.length }), { maxLength: 5 }),
    seen: fc.nat({ max: text.length }),
  }),
);

function pieces(text: string, cuts: readonly number[]): { delta: string; offset: number }[] {
  const ends = [...new Set([...cuts, text.length])]
    .sort((left, right) => left - right)
    .filter((end) => end > 0);
  return ends.map((end, index) => {
    const offset = ends[index - 1] ?? 0;
    return { delta: text.slice(offset, end), offset };
  });
}

describe("for any streamed text", () => {
  const streaming = fold([
    { type: "thread/started", data: { thread, settings }, seq: 1, at: 1 },
    {
      type: "turn/started",
      data: { threadId: "t1", turn: { id: "u1", status: "inProgress", items: [] } },
      seq: 2,
      at: 2,
    },
    {
      type: "item/started",
      data: { threadId: "t1", turnId: "u1", item: { type: "agentMessage", id: "i1", text: "" } },
      seq: 3,
      at: 3,
    },
  ]);
  const withDelta = (
    state: ThreadState,
    piece: { delta: string; offset: number },
    seq?: number,
  ): ThreadState =>
    reduceThread(state, {
      type: "item/agentMessage/delta",
      data: { threadId: "t1", turnId: "u1", itemId: "i1", ...piece },
      at: 4,
      ...(seq === undefined ? {} : { seq }),
    });

  test("a delta that is repeated, or overlaps, adds only what is new", () => {
    fc.assert(
      fc.property(cutText, ({ text, live, seen }) => {
        for (const { delta, offset } of pieces(text, live).filter((piece) => piece.offset <= seen)) {
          const once = appendAt(text.slice(0, seen), delta, offset);
          expect(once).toBe(text.slice(0, Math.max(seen, offset + delta.length)));
          expect(appendAt(once, delta, offset)).toBe(once);
        }
      }),
      RUNS,
    );
  });

  test("a client that received deltas and then reads the log has the same text as one that only reads the log", () => {
    fc.assert(
      fc.property(cutText, fc.nat(), ({ text, live, stored }, count) => {
        const received = pieces(text, live).slice(0, count % (live.length + 1));
        const subscriber = received.reduce((state, piece) => withDelta(state, piece), streaming);
        const read = (state: ThreadState): ThreadState =>
          pieces(text, stored).reduce((current, piece, index) => withDelta(current, piece, 4 + index), state);
        expect(read(subscriber)).toEqual(read(streaming));
        expect(read(streaming).turns[0]?.items).toEqual([{ type: "agentMessage", id: "i1", text }]);
      }),
      RUNS,
    );
  });
});
