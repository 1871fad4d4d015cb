import type { DriverEvent, DriverSession } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { settled } from "../clock.ts";
import { RecordingTurn, type RecordingTurnOptions } from "../conformance/recording-turn.ts";
import { Gate, type Script } from "./script.ts";
import { type ScriptedDriver, scriptedDriver } from "./scripted-driver.ts";

const SETTINGS = {
  model: "scripted/steady",
  cwd: "/code",
  approvalPolicy: "always",
  sandboxPolicy: { type: "readOnly" },
  config: {},
} as const;

const DENY = { outcome: "deny", scope: "once" } as const;

describe("a scripted driver", () => {
  test("streams a text in deltas that make up the whole, without cutting a character", async () => {
    const { turn } = await play([{ text: "Grüße 👋🏽 an alle", pieces: 4 }]);
    const deltas = turn.events.flatMap((event) => ("delta" in event ? [event.delta] : []));
    expect([deltas.length, deltas.join("")]).toEqual([4, "Grüße 👋🏽 an alle"]);
    expect(turn.completedItems).toMatchObject([{ type: "agentMessage", text: "Grüße 👋🏽 an alle" }]);
  });

  test("asks before a command, then runs it", async () => {
    const { turn } = await play([{ command: "ls", output: ["a\n", "b\n"], exitCode: 2, reason: "to see" }]);
    expect(turn.events).toEqual<DriverEvent[]>([
      { type: "item/started", item: command("1", "inProgress") },
      { type: "item/commandExecution/outputDelta", itemId: "1", delta: "a\n" },
      { type: "item/commandExecution/outputDelta", itemId: "1", delta: "b\n" },
      {
        type: "item/completed",
        item: { ...command("1", "failed"), exitCode: 2, aggregatedOutput: "a\nb\n", durationMs: 0 },
      },
    ]);
    expect(turn.actions).toEqual([
      { kind: "command", itemId: "1", command: "ls", cwd: "/code", reason: "to see" },
    ]);
  });

  test("shows the item first where that is set", async () => {
    const turn = turnOf("go", { decide: () => undefined });
    const session = await open(scriptedDriver({ scripts: [[{ command: "ls", startsFirst: true }]] }));
    const running = session.run(turn);
    await turn.firstAction();
    expect(turn.events.map((event) => event.type)).toEqual(["item/started"]);
    turn.stop();
    expect(await running).toEqual({ status: "interrupted" });
  });

  test("declines a denied action and continues", async () => {
    const script: Script = [
      { command: "rm -r lamp" },
      { fileChange: [{ path: "/project/a", kind: "add", diff: "+a" }] },
      { tool: "lookUp", arguments: { word: "lamp" }, result: 1 },
      { text: "Done." },
    ];
    const { driver, turn, outcome } = await play(script, { decide: () => DENY });
    expect(outcome).toEqual({ status: "completed" });
    const states = turn.completedItems.map((item) => [item.type, Reflect.get(item, "status")]);
    expect(states).toEqual([
      ["commandExecution", "declined"],
      ["fileChange", "declined"],
      ["toolCall", "declined"],
      ["agentMessage", undefined],
    ]);
    expect(turn.actions.map((action) => action.kind)).toEqual(["command", "fileChange", "tool"]);
    expect(driver.turns[0]?.decisions).toEqual([DENY, DENY, DENY]);
  });

  test("ends the turn when an approval is cancelled", async () => {
    const { outcome } = await play([{ command: "ls" }, { text: "never" }], {
      decide: () => ({ outcome: "cancel", scope: "once" }),
    });
    expect(outcome).toEqual({ status: "interrupted" });
  });

  test("asks the user and records the answers", async () => {
    const answers = { colour: { answers: ["green"] } };
    const { driver, turn } = await play([{ ask: [{ id: "colour", question: "Which?" }] }], { answers });
    expect(turn.questions).toEqual([[{ id: "colour", question: "Which?" }]]);
    expect(driver.turns[0]?.answers).toEqual([answers]);
  });

  test("reports usage, plans and anything else as scripted", async () => {
    const { turn } = await play([
      { usage: { inputTokens: 1, outputTokens: 2 }, modelContextWindow: 100 },
      { plan: [{ step: "look", status: "pending" }] },
      { emit: { type: "turn/diff/updated", diff: "+1" } },
      { approve: { kind: "tool", itemId: "x", tool: "t" } },
    ]);
    expect(turn.events).toEqual<DriverEvent[]>([
      { type: "usage", last: { inputTokens: 1, outputTokens: 2 }, modelContextWindow: 100 },
      { type: "turn/plan/updated", explanation: "", plan: [{ step: "look", status: "pending" }] },
      { type: "turn/diff/updated", diff: "+1" },
    ]);
    expect(turn.actions.length).toBe(1);
  });

  test("floods with as many deltas as scripted", async () => {
    const { turn } = await play([{ deltas: 100, size: 3 }]);
    expect(turn.events.filter((event) => event.type === "item/agentMessage/delta").length).toBe(100);
    expect(turn.completedItems).toMatchObject([{ text: "xxx".repeat(100) }]);
  });

  test("waits at a gate that reports when it is reached, and stops there on request", async () => {
    const gate = new Gate();
    const session = await open(
      scriptedDriver({ scripts: [[{ wait: gate }, { text: "on" }], [{ wait: new Gate() }]] }),
    );
    const turn = turnOf("go");
    const running = session.run(turn);
    await gate.reached;
    expect(turn.events).toEqual([]);
    gate.open();
    expect(await running).toEqual({ status: "completed" });
    const stopped = turnOf("go");
    const second = session.run(stopped);
    stopped.stop();
    expect(await second).toEqual({ status: "interrupted" });
  });

  test("ignores an interrupt until the gate is opened", async () => {
    const gate = new Gate();
    const session = await open(scriptedDriver({ scripts: [[{ wait: gate, ignoresInterrupt: true }]] }));
    const turn = turnOf("go");
    let ended = false;
    const running = session.run(turn).finally(() => {
      ended = true;
    });
    await gate.reached;
    turn.stop();
    await settled();
    expect(ended).toBe(false);
    gate.open();
    expect(await running).toEqual({ status: "interrupted" });
  });

  test("hangs forever where scripted, even after stop and close", async () => {
    const session = await open(scriptedDriver({ scripts: [[{ text: "x" }, { hang: true }]] }));
    const turn = turnOf("go");
    let ended = false;
    void session.run(turn).finally(() => {
      ended = true;
    });
    await turn.waitFor((event) => event.type === "item/completed");
    turn.stop();
    await session.close();
    await settled();
    expect(ended).toBe(false);
  });

  test("fails, throws and dies as scripted", async () => {
    const error = new Error("as scripted");
    const driver = scriptedDriver({
      scripts: [[{ fail: { message: "no" } }], [{ throws: error }], [{ die: true }], [{ text: "again" }]],
    });
    const session = await open(driver);
    expect(await session.run(turnOf("1"))).toEqual({ status: "failed", error: { message: "no" } });
    await expect(session.run(turnOf("2"))).rejects.toBe(error);
    await expect(session.run(turnOf("3"))).rejects.toBeInstanceOf(FlintError);
    expect(await session.run(turnOf("4"))).toEqual({ status: "completed" });
    expect(driver.turns[1]?.rejection).toBe(error);
  });

  test("stays dead where that is scripted", async () => {
    const driver = scriptedDriver({ staysDead: true, scripts: [[{ die: true }], [{ text: "again" }]] });
    const session = await open(driver);
    await expect(session.run(turnOf("1"))).rejects.toThrow("died");
    await expect(session.run(turnOf("2"))).rejects.toThrow("died in an earlier turn");
    expect(await (await open(driver)).run(turnOf("3"))).toEqual({ status: "completed" });
  });

  test("continues when it is steered, even early, but not after the end", async () => {
    const driver = scriptedDriver({
      scripts: [[{ untilSteered: true }, { untilSteered: true }, { text: "ok" }]],
    });
    const session = await open(driver);
    const input = [{ type: "text", text: "left" } as const];
    expect(await session.steer?.(input)).toBe(false);
    const running = session.run(turnOf("go"));
    expect(await session.steer?.(input)).toBe(true);
    expect(await session.steer?.(input)).toBe(true);
    expect(await running).toEqual({ status: "completed" });
    expect(await session.steer?.(input)).toBe(false);
    expect(driver.turns[0]?.steers).toEqual([input, input]);
  });

  test("has no steering, or refuses it, where that is scripted", async () => {
    const absent = await open(scriptedDriver({ steering: "absent" }));
    expect(absent.steer).toBeUndefined();
    const refusing = await open(scriptedDriver({ steering: "refuses", scripts: [[{ wait: new Gate() }]] }));
    const turn = turnOf("go");
    const running = refusing.run(turn);
    expect(await refusing.steer?.([])).toBe(false);
    turn.stop();
    await running;
  });

  test("misbehaves after the end where scripted", async () => {
    const when = new Gate();
    const late: DriverEvent = { type: "turn/diff/updated", diff: "late" };
    const { turn } = await play([{ afterEnd: late }, { afterEnd: late, when }]);
    await settled();
    await settled();
    expect(turn.late).toEqual([late]);
    when.open();
    await settled();
    expect(turn.late).toEqual([late, late]);
  });

  test("repeats its input without a script, takes further scripts, and reports when it has none left", async () => {
    const plain = turnOf("hello");
    await (await open(scriptedDriver())).run(plain);
    expect(plain.completedItems).toMatchObject([{ text: "You said: hello" }]);
    const driver = scriptedDriver({ scripts: [] });
    driver.enqueue([{ text: "queued" }]);
    const session = await open(driver);
    await session.run(turnOf("1"));
    await expect(session.run(turnOf("2"))).rejects.toThrow('no script left for "2"');
  });

  test("remembers what it was opened with and reports its own session id once, unless resumed", async () => {
    const driver = scriptedDriver({ nativeId: "native" });
    const session = await open(driver);
    const [first, second, third] = [turnOf("1"), turnOf("2"), turnOf("3")];
    await session.run(first);
    await session.run(second);
    await session.close();
    const resumed = await open(driver, "native");
    await resumed.run(third);
    const reportsId = (turn: RecordingTurn) => turn.events.some((event) => event.type === "session");
    expect([first, second, third].map(reportsId)).toEqual([true, false, false]);
    expect(driver.sessions).toMatchObject([
      {
        threadId: "thread",
        settings: SETTINGS,
        nativeId: undefined,
        history: [],
        handoffSummary: "",
        mcpServers: [],
        closes: 1,
      },
      { nativeId: "native", closes: 0 },
    ]);
    expect(driver.turns.map((turn) => turn.input)).toEqual([first.input, second.input, third.input]);
  });

  test("shows a second selector when the first is on", async () => {
    const driver = scriptedDriver();
    const ids = async (values: Record<string, string>) =>
      (await driver.options("scripted/steady", values)).map((option) => [option.id, option.value]);
    expect(await ids({})).toEqual([["thinking", "false"]]);
    expect(await ids({ thinking: "true", effort: "high" })).toEqual([
      ["thinking", "true"],
      ["effort", "high"],
    ]);
  });

  test("has an account and MCP servers only if it is given some, and can refuse to open", async () => {
    const plain = scriptedDriver();
    expect([plain.account, plain.mcpServers]).toEqual([undefined, undefined]);
    const account = { account: { type: "test" }, requiresLogin: false };
    const openFails = new FlintError("agentFailed", "Install it first.");
    const driver = scriptedDriver({ account, mcpServers: [], openFails });
    expect([await driver.account?.(), await driver.mcpServers?.()]).toEqual([account, []]);
    await expect(open(driver)).rejects.toBe(openFails);
  });
});

function command(id: string, status: "inProgress" | "failed") {
  return { type: "commandExecution", id, command: "ls", cwd: "/code", status } as const;
}

function turnOf(text: string, options: Partial<RecordingTurnOptions> = {}): RecordingTurn {
  return new RecordingTurn({ text, settings: SETTINGS, ...options });
}

function open(driver: ScriptedDriver, nativeId?: string): Promise<DriverSession> {
  const sandbox = {
    state: async () => ({ available: false, mechanism: "none" }),
    launch: () => Promise.reject(new Error("scripted agents start nothing")),
    start: () => Promise.reject(new Error("scripted agents start nothing")),
  };
  return driver.open({
    threadId: "thread",
    settings: SETTINGS,
    nativeId,
    history: async () => [],
    handoffSummary: async () => "",
    sandbox,
    mcpServers: [],
  });
}

async function play(script: Script, options: Partial<RecordingTurnOptions> = {}) {
  let count = 0;
  const nextId = (): string => {
    count += 1;
    return `${count}`;
  };
  const driver = scriptedDriver({ scripts: [script], nextId });
  const turn = turnOf("go", options);
  const outcome = await (await open(driver)).run(turn);
  turn.end();
  return { driver, turn, outcome };
}
