import type { DriverEvent, DriverSession, TurnContext, TurnOutcome } from "@flint/core/ports";
import { describe, expect, test } from "vitest";
import { settled } from "../clock.ts";
import { Gate, type Script } from "../scripted/script.ts";
import { scriptedDriver } from "../scripted/scripted-driver.ts";
import { temporaryFolder } from "../temp.ts";
import { appliedDiff } from "./applied-diff.ts";
import { describeDriver } from "./driver.ts";
import { DRIVER_CHECKS } from "./driver-checks.ts";
import { FURTHER_DRIVER_CHECKS } from "./driver-further-checks.ts";
import { type DriverUnderTest, NotSupported, unsupported } from "./driver-under-test.ts";
import { lifecycleFaults, RecordingTurn, streamFaults } from "./recording-turn.ts";
import { AFTER, agentDisk, BEFORE, type Fault, FaultyDriver } from "./testing/faulty-driver.ts";

const SETTINGS = {
  model: "scripted/steady",
  cwd: "/code",
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

describeDriver(
  "the scripted driver",
  async () => {
    const driver = scriptedDriver({ nativeId: "native-1", scripts: (text) => SCRIPTS[text]?.() ?? [] });
    return { driver, settings: SETTINGS, prompts };
  },
  { checks: DRIVER_CHECKS },
);

describeDriver(
  "a scripted driver without steering that rejects",
  async () => {
    const driver = scriptedDriver({
      steering: "absent",
      scripts: (text) => (text === "failure" ? [{ die: true }] : (SCRIPTS[text]?.() ?? [])),
    });
    const { steer: _steer, ...others } = prompts;
    return { driver, settings: SETTINGS, prompts: others };
  },
  { checks: DRIVER_CHECKS },
);

describeDriver("a driver that does everything right", () => pliable());

describeDriver(
  "a driver whose checks share a session",
  async () => ({
    driver: scriptedDriver({ scripts: (text) => SCRIPTS[text]?.() ?? [] }),
    settings: SETTINGS,
    prompts,
    undo: async () => undefined,
  }),
  { checks: DRIVER_CHECKS, sharesSession: true },
);

const CHECKS = { ...DRIVER_CHECKS, ...FURTHER_DRIVER_CHECKS };

/** For each check a fault that it has to find, and what it says then. */
const FINDS: readonly [keyof typeof CHECKS, Fault, RegExp][] = [
  [
    "offers models with ids of its own, one of them the default, and valid selectors",
    "twoDefaults",
    /default/,
  ],
  [
    "answers with text, every item whole and in order, and says what was used",
    "noUsage",
    /tokens that were used/,
  ],
  ["requests approval before it acts, and acts when allowed", "doesNotAsk", /things that were asked for/],
  ["does not act when denied", "actsWhenDenied", /completed/],
  ["stops while it streams, and emits nothing afterwards", "ignoresInterrupt", /did not stop/],
  ["stops while it streams, and emits nothing afterwards", "talksOn", /reported after the end/],
  ["stops while a tool runs, and leaves no process", "ignoresInterrupt", /did not stop/],
  ["stops while it waits for an answer, and does not act", "doesNotAsk", /ended without what was waited for/],
  ["does nothing in a turn that was stopped before it began", "startsStopped", /to deeply equal \[\]/],
  ["reports a failure as an outcome or a rejection", "completesFailure", /to match object/],
  ["does the next turn after one that was stopped", "talksOn", /reported after the end/],
  ["ends permanently when it is closed, also during a turn and more than once", "staysOpen", /did not end/],
  ["changes a file exactly as it showed before", "wrongDiff", /what was asked for/],
  ["leaves a file alone when the change is declined", "writesDeclined", /the file afterwards/],
  [
    "applies an approval for the session to exactly that action and nothing else",
    "yesForEverything",
    /asks for the same again/,
  ],
  ["answers what is steered into a running turn", "ignoresSteer", /to match/],
  ["remembers the conversation when a new process resumes the thread", "forgets", /to match/],
  [
    "continues a fork with the earlier conversation, without affecting the original session",
    "sharesFork",
    /the id of the fork/,
  ],
  [
    "continues a fork with the earlier conversation, without affecting the original session",
    "emptyFork",
    /what the fork knows/,
  ],
  [
    "continues a fork with the earlier conversation, without affecting the original session",
    "leaksFork",
    /what the original knows/,
  ],
  [
    "continues in a fork of an earlier turn without what came after it",
    "wholeFork",
    /what the fork knows.*not to match/s,
  ],
  ["goes on in a fork where there is no session to copy", "needsFork", /to deeply equal/],
  ["uses another model from the turn on that names it", "oneModel", /other model is used/],
  ["takes every value that its selectors offer", "stubbornSelector", /effort once it is chosen/],
  ["survives a request that its model refuses", "staysBroken", /the next turn/],
  ["survives a model that asks it to wait", "silentRetry", /says that it tries again/],
  ["fails the turn once when the agent is killed, and does the next one", "survivesKill", /to match object/],
];

describe("the suite", () => {
  test.each(FINDS)("%s: finds a driver with the fault %s", async (title, fault, finding) => {
    await expect(CHECKS[title](() => pliable(fault))).rejects.toThrow(finding);
  });

  test("reports why a check is skipped and which fixtures are missing", async () => {
    const check = CHECKS["remembers the conversation when a new process resumes the thread"];
    const under = await pliable();
    const { features, ...bare } = under;
    if (features === undefined) throw new Error("a pliable driver has everything");
    const forgetful = { ...under, features: { ...features, recall: unsupported("it has no memory") } };
    await expect(check(async () => forgetful)).rejects.toThrow(new NotSupported("it has no memory"));
    await expect(check(async () => bare)).rejects.toThrow(NotSupported);
  });
});

async function pliable(fault?: Fault): Promise<DriverUnderTest> {
  const { path } = await temporaryFolder();
  const disk = agentDisk();
  const { steer, ...others } = prompts;
  return {
    driver: new FaultyDriver(fault, disk),
    settings: { ...SETTINGS, model: "pliable/a", cwd: path },
    prompts: { ...others, steer },
    toolRan: () => disk.toolRan,
    ...(fault === "ignoresInterrupt" || fault === "staysOpen"
      ? { stopsWithinMs: 50, turnWithinMs: 400 }
      : {}),
    features: {
      again: () => new FaultyDriver(fault, disk),
      fileChange: { prompt: "change", path: "notes.txt", before: BEFORE, after: AFTER },
      sessionApproval: { sameAgain: "asksAgain", otherTool: "other" },
      steering: { more: "lantern", says: /lantern/ },
      recall: { ask: "recall", says: /text/ },
      fork: {
        prompt: "lantern",
        ask: "recall",
        knowsBefore: /text/,
        knowsPrompt: /lantern/,
        atAnyTurn: true,
      },
      otherModel: { model: "pliable/b", used: () => disk.latestModel === "pliable/b" },
      selectors: ["effort"],
      failing: async (kind) => {
        disk.failure = kind === "badRequest" ? "refused" : "retried";
        return "text";
      },
      processes: () => [...disk.processes].flatMap(({ pid }) => pid ?? []),
    },
  };
}

describe("a diff that is applied", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n\\ No newline at end of file\n";

  test("makes the new text, in any number of places, with and without a last line end", () => {
    expect(appliedDiff("one\ntwo\n", diff)).toBe("one\nthree");
    expect(appliedDiff("", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n")).toBe("one\n");
    expect(appliedDiff("a\nb\nc\nd\n", "@@ -1 +0,0 @@\n-a\n@@ -4 +3,2 @@\n-d\n+e\n+f\n")).toBe(
      "b\nc\ne\nf\n",
    );
  });

  test.each([
    ["what was not there", "one\nsix\n", diff],
    ["a place that is not there", "", diff.replaceAll("-1,2", "-7,2")],
    ["hunks that do not count right", "one\ntwo\n", diff.replace("-1,2", "-1,3")],
    ["no hunk at all", "one\n", "three"],
  ])("is refused if it has %s", (_, before, bad) => {
    expect(() => appliedDiff(before, bad)).toThrow();
  });
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
