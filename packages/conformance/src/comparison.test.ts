import { describe, expect, test } from "vitest";
import type { CheckResult } from "./check.ts";
import { differences } from "./comparison.ts";
import { type Recording, recordingOf } from "./recording.ts";
import type { Entry } from "./wire/wire.ts";

const THREAD = "01a1e317-0f77-7510-87b7-f42c6095d74e";
const OTHER = "01a1e317-0f77-7510-87b7-000000000000";
const STRICT = { optionalMessages: [], unordered: [], errors: "words", optionalFields: [] } as const;

function entry(direction: Entry["direction"], message: object): Entry {
  return { direction, text: JSON.stringify(message), message: { ...message } };
}

const sent = (message: object): Entry => entry("sent", message);
const came = (message: object): Entry => entry("came", message);

function recording(...entries: Entry[]): Recording {
  const finding: CheckResult = {
    about: "Turns",
    name: "a turn",
    outcome: "passed",
    reason: undefined,
    conversations: [entries],
  };
  return recordingOf([finding]);
}

const ask = sent({ id: 1, method: "turn/start", params: { threadId: THREAD } });
const answer = came({ id: 1, result: { turn: { id: OTHER, status: "inProgress", error: null } } });
const started = came({ method: "turn/started", params: { threadId: THREAD, turn: { id: OTHER } } });
const piece = came({ method: "item/agentMessage/delta", params: { threadId: THREAD, delta: "a" } });
const ended = came({ method: "turn/completed", params: { threadId: THREAD, turn: { id: OTHER } } });
const tokens = came({ method: "thread/tokenUsage/updated", params: { threadId: THREAD, total: 7 } });

describe("a recording", () => {
  test("has no ids, times, texts or pieces of streams, only what came in which order and how it looks", () => {
    expect(recording(ask, answer, started, piece, piece, ended)).toEqual({
      conversations: { "a turn": [["answer to turn/start", "turn/started", "turn/completed"]] },
      shapes: {
        "answer to turn/start": { turn: { error: "null", id: "<uuid>", status: "inProgress" } },
        "item/agentMessage/delta": { delta: "<text>", threadId: "<uuid>" },
        "turn/completed": { threadId: "<uuid>", turn: { id: "<uuid>" } },
        "turn/started": { threadId: "<uuid>", turn: { id: "<uuid>" } },
      },
    });
  });

  test("keeps the number and the text of a refusal, without ids", () => {
    const refusal = came({ id: 1, error: { code: -32600, message: `thread not found: ${OTHER}` } });
    expect(recording(ask, refusal).conversations).toEqual({
      "a turn": [["refusal of turn/start: -32600 thread not found: <uuid>"]],
    });
  });

  test("leaves out what comes late about a thread of an earlier check", () => {
    const late = came({ method: "turn/completed", params: { threadId: OTHER } });
    expect(recording(late, ask, answer).conversations).toEqual({ "a turn": [["answer to turn/start"]] });
  });

  test("joins the shapes of messages of one kind, so that a field which was null once may be", () => {
    const filled = came({ method: "event", params: { threadId: THREAD, error: { text: "x" }, list: [1] } });
    const empty = came({ method: "event", params: { threadId: THREAD, error: null, list: [] } });
    const both = { threadId: "<uuid>", error: { "null?": "", text: "<text>" }, list: ["<number>"] };
    expect(recording(ask, filled, empty).shapes.event).toEqual(both);
    expect(recording(ask, empty, filled).shapes.event).toEqual(both);
  });
});

describe("a comparison", () => {
  const first = recording(ask, answer, started, tokens, piece, ended, ended, ended);

  test("finds nothing between a server and itself, nor where there is more than there was", () => {
    expect(differences(first, first, STRICT)).toEqual([]);
    const more = came({ id: 1, result: { turn: { id: OTHER, status: "inProgress", more: 1 }, also: 2 } });
    expect(differences(recording(ask, answer), recording(ask, more), STRICT)).toEqual([]);
  });

  test("finds another order once, however many checks have it", () => {
    const swapped = recording(ask, answer, tokens, started, ended, ended, ended);
    const twice = (one: Recording): Recording => ({
      ...one,
      conversations: { ...one.conversations, again: one.conversations["a turn"] ?? [] },
    });
    expect(differences(twice(first), twice(swapped), STRICT)).toEqual([
      "after nothing should come turn/started, but came thread/tokenUsage/updated (in “a turn” and 1 more)",
    ]);
    expect(differences(first, swapped, { ...STRICT, optionalMessages: ["thread/tokenUsage"] })).toEqual([]);
    expect(differences(first, swapped, { ...STRICT, unordered: ["thread/tokenUsage"] })).toEqual([]);
  });

  test("tolerates a last notification that may still be in flight, but no more than that", () => {
    expect(differences(first, recording(ask, answer, started, tokens, ended), STRICT)).toEqual([]);
    expect(differences(recording(ask, answer, started, tokens, ended), first, STRICT)).toEqual([]);
    expect(differences(first, recording(ask, answer, started, tokens), STRICT)).toEqual([
      "after thread/tokenUsage/updated should come turn/completed, but came nothing more (in “a turn”)",
    ]);
    expect(differences(recording(ask, answer, started, tokens), first, STRICT)).toHaveLength(1);
  });

  test("lets responses and notifications overtake each other", () => {
    expect(differences(first, recording(ask, started, tokens, answer, ended, ended, ended), STRICT)).toEqual(
      [],
    );
  });

  test("finds a missing field and one of another kind, unless it is free to be missing", () => {
    const other = recording(ask, came({ id: 1, result: { turn: { id: 7, status: "inProgress" } } }));
    const problems = [`answer to turn/start.turn.id should be "<uuid>", but is "<number>"`];
    expect(differences(recording(ask, answer), other, STRICT)).toEqual(problems);
    const missing = recording(ask, came({ id: 1, result: {} }));
    expect(differences(recording(ask, answer), missing, STRICT)).toHaveLength(1);
    expect(differences(recording(ask, answer), missing, { ...STRICT, optionalFields: ["*.turn"] })).toEqual(
      [],
    );
  });

  test("finds a refusal with another number or other first words", () => {
    const refused = (code: number, message: string) =>
      recording(ask, came({ id: 1, error: { code, message } }));
    const real = refused(-32600, "thread not found: x");
    expect(differences(real, refused(-32600, "thread not found: x (gone)"), STRICT)).toEqual([]);
    expect(differences(real, refused(-32601, "thread not found: x"), STRICT)).not.toEqual([]);
    expect(differences(real, refused(-32600, "no such thread"), STRICT)).not.toEqual([]);
    expect(differences(real, recording(ask, answer), STRICT)).not.toEqual([]);
    expect(differences(real, refused(-1, "no"), { ...STRICT, errors: "fact" })).toEqual([]);
    expect(differences(real, recording(ask, answer), { ...STRICT, errors: "fact" })).not.toEqual([]);
  });
});
