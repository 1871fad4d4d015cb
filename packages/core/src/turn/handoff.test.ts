import { emptyThread, type NativeEnd, type ThreadState, type Turn } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { type ForkSource, forkSource, handoffSummary } from "./handoff.ts";

function turn(id: string, items: Turn["items"], status: Turn["status"] = "completed"): Turn {
  return { id, status, items };
}

function said(text: string): Turn["items"] {
  return [{ type: "userMessage", id: "u", content: [{ type: "text", text }] }];
}

test("the summary states what was asked, said, run and changed, and how a turn ended", () => {
  const text = handoffSummary([
    turn(
      "1",
      [
        ...said("fix it"),
        { type: "reasoning", id: "r", content: "hm" },
        { type: "commandExecution", id: "c", command: "npm test", cwd: "/", status: "failed", exitCode: 1 },
        {
          type: "fileChange",
          id: "f",
          status: "declined",
          changes: [{ path: "/a", kind: "modify", diff: "" }],
        },
      ],
      "interrupted",
    ),
  ]);
  expect(text).toBe(
    "User: fix it\nRan (exit 1): npm test\nFile modify (declined): /a\n(The turn was interrupted.)",
  );
});

test("the summary is bounded: long texts are cut, and the oldest turns are left out first", () => {
  const turns = Array.from({ length: 40 }, (_, place) =>
    turn(String(place), said(`${place} ${"x".repeat(5_000)}`)),
  );
  const text = handoffSummary(turns);
  expect(text.length).toBeLessThan(25_000);
  expect(text).toMatch(/^\(\d+ earlier turns are left out\.\)/);
  expect(text).toContain("User: 39 ");
  expect(text).toContain("characters left out");
});

test("the summary of no turns is empty", () => {
  expect(handoffSummary([])).toBe("");
});

const AGENT = "claude";

function endIn(sessionId: string, position: string, agent = AGENT): NativeEnd {
  return { agent, sessionId, position };
}

function endedTurn(id: string, nativeEnd?: NativeEnd): Turn {
  return { id, status: "completed", items: [], ...(nativeEnd === undefined ? {} : { nativeEnd }) };
}

/** A thread whose agent worked in a session of its own up to a turn; without a session if none is named. */
function threadWith(options: {
  from?: string;
  session?: string;
  lastTurn?: string;
  runs?: string;
}): ThreadState {
  const { from, session, lastTurn, runs } = options;
  const state = emptyThread("any");
  return {
    ...state,
    thread: { ...state.thread, ...(from === undefined ? {} : { forkedFromId: from }) },
    nativeIds: session === undefined ? {} : { [AGENT]: session },
    lastTurns: lastTurn === undefined ? {} : { [AGENT]: lastTurn },
    activeTurnId: runs,
  };
}

/** Finds the session to copy for a thread with these turns, among other threads by their names. */
function found(
  state: ThreadState,
  turns: readonly Turn[],
  others: Readonly<Record<string, ThreadState>> = {},
): Promise<ForkSource | undefined> {
  return forkSource({ agent: AGENT, state, turns, stateOf: async (id) => others[id] });
}

describe("the session to continue from a copy of", () => {
  const fork = threadWith({ from: "a" });
  const a = threadWith({ session: "of a", lastTurn: "2" });

  test("is the whole one of the parent thread, if none contains more", async () => {
    const turns = [endedTurn("1", endIn("of a", "p1")), endedTurn("2", endIn("of a", "p2"))];
    expect(await found(fork, turns, { a })).toEqual({ nativeId: "of a", lastTurnId: "2" });
  });

  test("is a part of another one, if that contains a later turn", async () => {
    const turns = [endedTurn("1"), endedTurn("2"), endedTurn("3", endIn("later", "p3"))];
    const part = { nativeId: "later", position: "p3", lastTurnId: "3" };
    expect(await found(fork, turns, { a })).toEqual(part);
  });

  test("is the whole one, if the part ends earlier", async () => {
    const turns = [endedTurn("1", endIn("earlier", "p1")), endedTurn("2")];
    expect(await found(fork, turns, { a })).toEqual({ nativeId: "of a", lastTurnId: "2" });
  });

  test("ends at the latest turn of this agent, not at one of another agent", async () => {
    const turns = [
      endedTurn("1", endIn("s", "p1")),
      endedTurn("2", endIn("s", "p2")),
      endedTurn("3", endIn("t", "q", "codex")),
    ];
    const part = { nativeId: "s", position: "p2", lastTurnId: "2" };
    expect(await found(threadWith({}), turns)).toEqual(part);
  });

  test("is not that of the parent, once a session of the fork itself was dropped", async () => {
    const dropped = threadWith({ from: "a", session: "" });
    expect(await found(dropped, [endedTurn("1"), endedTurn("2")], { a })).toBeUndefined();
    const part = { nativeId: "own", position: "p1", lastTurnId: "1" };
    expect(await found(dropped, [endedTurn("1", endIn("own", "p1")), endedTurn("2")], { a })).toEqual(part);
  });

  test.each([
    ["is gone", {}],
    ["works on a turn", { a: threadWith({ session: "of a", lastTurn: "2", runs: "3" }) }],
    ["has gone on since", { a: threadWith({ session: "of a", lastTurn: "3" }) }],
    ["has dropped its session", { a: threadWith({ session: "", lastTurn: "2" }) }],
  ])("does not exist if the parent %s", async (_how, others) => {
    expect(await found(fork, [endedTurn("1"), endedTurn("2")], others)).toBeUndefined();
  });

  test("is searched through forks in which the agent never worked, up to a limit", async () => {
    const turns = [endedTurn("1"), endedTurn("2")];
    const between = { b: threadWith({ from: "c" }), c: threadWith({ from: "a" }), a };
    const source = { nativeId: "of a", lastTurnId: "2" };
    expect(await found(threadWith({ from: "b" }), turns, between)).toEqual(source);
    const circle = { b: threadWith({ from: "c" }), c: threadWith({ from: "b" }) };
    expect(await found(threadWith({ from: "b" }), turns, circle)).toBeUndefined();
  });
});
