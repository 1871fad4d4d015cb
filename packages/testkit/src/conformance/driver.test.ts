import type { DriverEvent, DriverSession, TurnContext, TurnOutcome } from "@flint/core/ports";
import { describe, expect, test } from "vitest";
import { settled } from "../clock.ts";
import { Gate, type Script } from "../script.ts";
import { scriptedDriver } from "../scripted-driver.ts";
import { describeDriver } from "./driver.ts";
import { lifecycleFaults, streamFaults } from "./item-lifecycle.ts";
import { RecordingTurn } from "./recording-turn.ts";

const SETTINGS = {
  model: "scripted/steady",
  cwd: "/work",
  approvalPolicy: "always",
  sandboxPolicy: { type: "readOnly" },
  config: {},
} as const;

const SCRIPTS: Readonly<Record<string, () => Script>> = {
  text: () => [
    { reasoning: "A greeting.", pieces: 2 },
    { text: "Hello to you.", pieces: 3 },
    { usage: { inputTokens: 10, outputTokens: 4 } },
  ],
  tool: () => [{ command: "make lamp", output: ["one\n", "two\n"] }, { text: "Made." }],
  stream: () => [{ deltas: 1_000_000_000, size: 5 }],
  longTool: () => [{ command: "sleep 1000", output: ["zzz"], until: new Gate() }],
  failure: () => [{ fail: { message: "The lamp is broken." } }],
  steer: () => [{ text: "Go on?" }, { untilSteered: true }, { text: "Thanks." }],
};

const prompts = {
  text: "text",
  tool: "tool",
  stream: "stream",
  longTool: "longTool",
  failure: "failure",
  steer: "steer",
};

describeDriver("the scripted driver", async () => {
  const driver = scriptedDriver({ nativeId: "native-1", scripts: (text) => SCRIPTS[text]?.() ?? [] });
  return { driver, settings: SETTINGS, prompts };
});

describeDriver("a scripted driver without steering that rejects", async () => {
  const driver = scriptedDriver({
    steering: "absent",
    scripts: (text) => (text === "failure" ? [{ die: true }] : (SCRIPTS[text]?.() ?? [])),
  });
  const { steer: _steer, ...others } = prompts;
  return { driver, settings: SETTINGS, prompts: others };
});

describe("the item rules", () => {
  const item = { type: "agentMessage", id: "a", text: "" } as const;
  const started: DriverEvent = { type: "item/started", item };
  const completed: DriverEvent = { type: "item/completed", item: { ...item, text: "hi" } };
  const delta: DriverEvent = { type: "item/agentMessage/delta", itemId: "a", delta: "hi" };

  test("accept an item that starts, grows and completes", () => {
    expect(lifecycleFaults([started, delta, completed], true)).toEqual([]);
    expect(streamFaults([started, delta, completed])).toEqual([]);
  });

  test.each<[string, DriverEvent[], string]>([
    ["a delta without a start", [delta], "item/agentMessage/delta of item a: it was never started"],
    ["a completion without a start", [completed], "item/completed of item a: it was never started"],
    ["a second start", [started, started, completed], "item/started of item a: it was started before"],
    [
      "a second completion",
      [started, completed, completed],
      "item/completed of item a: it was completed before",
    ],
    [
      "a delta after completion",
      [started, completed, delta],
      "item/agentMessage/delta of item a: it was completed before",
    ],
    ["an item left open", [started], "item a was started and never completed"],
    [
      "an id with a slash",
      [
        { type: "item/started", item: { ...item, id: "a/b" } },
        { type: "item/completed", item: { ...item, id: "a/b" } },
      ],
      "item/started of item a/b: its id is not valid",
    ],
  ])("notice %s", (_, events, fault) => {
    expect(lifecycleFaults(events, true)).toContain(fault);
  });

  test("notice a final text that is not the streamed one", () => {
    const other: DriverEvent = { type: "item/completed", item: { ...item, text: "bye" } };
    expect(streamFaults([started, delta, other])).toEqual(["item a ends with another text than it streamed"]);
  });
});

describe("a recording turn", () => {
  test("leaves an approval open until the turn is stopped", async () => {
    const turn = new RecordingTurn({ text: "x", settings: SETTINGS, decide: () => undefined });
    const decision = turn.approve({ kind: "tool", itemId: "a", tool: "x" });
    let answered = false;
    const watched = decision.then(() => {
      answered = true;
    });
    await settled();
    expect(answered).toBe(false);
    turn.stop();
    await watched;
    expect((await decision).outcome).toBe("cancel");
  });

  test("keeps apart what is reported after the end", async () => {
    const turn = new RecordingTurn({ text: "x", settings: SETTINGS });
    const session: Pick<DriverSession, "run"> = { run: misbehave };
    expect(await session.run(turn)).toEqual({ status: "completed" });
    turn.end();
    await settled();
    expect([turn.events, turn.late]).toEqual([[], [{ type: "session", nativeId: "late" }]]);
    await expect(turn.waitFor(() => true)).rejects.toThrow("It reported: nothing");
  });
});

async function misbehave(turn: TurnContext): Promise<TurnOutcome> {
  setImmediate(() => turn.emit({ type: "session", nativeId: "late" }));
  return { status: "completed" };
}
