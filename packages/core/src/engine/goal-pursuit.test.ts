import type { Goal } from "@flint/protocol";
import { BareDriver, type Script, scriptedDriver, type TestEngine, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

type Server = TestEngine;
type Pursue = Readonly<Record<string, unknown>>;

const COST = {
  type: "usage",
  last: { inputTokens: 30, outputTokens: 12 },
  cost: { amount: 0.4, currency: "USD" },
} as const;

/** An engine whose agent does the same in every turn. */
function repeating(script: Script): Server {
  return testEngine({ driver: scriptedDriver({ scripts: () => script }) });
}

/** Sets a goal, runs one turn, and waits until the goal is no longer active. */
async function pursued(server: Server, pursue: Pursue, more: Pursue = {}) {
  const client = server.connect();
  const threadId = await client.startThread();
  await client.call("thread/goal/set", { threadId, objective: "Green tests", pursue, ...more });
  const over = client.waitFor("thread/goal/updated", ({ data }) => data.goal.status !== "active");
  await client.runTurn(threadId, "go");
  const goal: Goal = (await over).data.goal;
  const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true });
  return { client, threadId, goal, turns };
}

describe("a goal that is pursued", () => {
  test("goes on turn after turn until the agent says that it is reached", async () => {
    const scripts = [[{ text: "A start." }], [{ text: "More." }], [{ text: "Done.\n\nGOAL REACHED" }]];
    const server = testEngine({ scripts });
    const { client, goal, turns } = await pursued(server, {});
    expect(goal).toMatchObject({ status: "complete", reason: "The agent says so.", pursuit: { turns: 2 } });
    expect(turns.map(({ _meta }) => _meta?.startedBy)).toEqual([undefined, "goal", "goal"]);
    const [first, second] = server.driver.turns.map(({ input }) => JSON.stringify(input));
    expect(first).toContain('end your answer with the line \\"GOAL REACHED\\"');
    expect(second).toContain("The goal is not reached yet. Continue with it: Green tests");
    expect(client.eventsOf("warning").map(({ data }) => data.message)).toEqual([
      expect.stringContaining("no check, so it counts as reached when the agent says so"),
    ]);
  });

  test("is checked by a command after each turn, whatever the agent says", async () => {
    const codes = [1, 0];
    const server = testEngine({ scripts: [[{ text: "GOAL REACHED" }], [{ text: "Now." }]] });
    server.sandbox.play = async () => ({ exitCode: codes.shift() ?? 1, durationMs: 1, ended: "exited" });
    const { client, goal, turns } = await pursued(server, { check: "npm test" });
    expect(goal).toMatchObject({ status: "complete", reason: "npm test succeeded." });
    expect(turns.map(({ kind }) => kind)).toEqual(["prompt", "shell", "prompt", "shell"]);
    expect(JSON.stringify(server.driver.turns[1]?.input)).toMatch(
      /check of the goal was run: npm test.*exit code 1/,
    );
    expect(client.eventsOf("warning")).toEqual([]);
  });

  test.each<[string, Pursue, Pursue, number, string]>([
    ["turns", { maxTurns: 2 }, {}, 3, "It was not reached within 2 further turns."],
    ["tokens", {}, { tokenBudget: 80 }, 2, "Its 80 tokens are used up."],
    ["cost", { maxCostUsd: 1 }, {}, 3, "Its $1 are used up."],
  ])("ends at its limit of %s, and says so", async (_, pursue, more, count, reason) => {
    const server = repeating([{ emit: COST }, { text: "Not yet." }]);
    const { goal, turns } = await pursued(server, pursue, more);
    expect(goal).toMatchObject({ status: "budgetLimited", reason });
    expect(turns).toHaveLength(count);
  });

  test("ends at its limit of cost if the cost of the agent is only estimated", async () => {
    const { cost: estimate, ...call } = COST;
    const server = repeating([{ emit: { ...call, estimate } }, { text: "Not yet." }]);
    const { goal, turns } = await pursued(server, { maxCostUsd: 1 });
    expect(goal).toMatchObject({ status: "budgetLimited", reason: "Its $1 are used up." });
    expect(turns).toHaveLength(3);
  });

  test("ends at its limit of working time", async () => {
    const driver = new BareDriver({
      run: async () => {
        await server.clock.advance(20_000);
        return { status: "completed" };
      },
    });
    const server: Server = testEngine({ driver });
    const { goal, turns } = await pursued(server, { maxSeconds: 30 });
    expect(goal).toMatchObject({ status: "budgetLimited", reason: "Its 30 seconds of work are used up." });
    expect(turns).toHaveLength(2);
  });

  test.each([
    [[{ text: "GOAL BLOCKED: no network" }], "blocked", "The agent says: no network"],
    [[{ fail: { message: "Broken.", errorInfo: "Other" } }], "blocked", "Broken."],
    [[{ fail: { message: "Later.", errorInfo: "UsageLimitExceeded" } }], "usageLimited", "Later."],
  ] as const)("stops when it cannot go on: %j", async (script, status, reason) => {
    const { goal, turns } = await pursued(repeating(script), {});
    expect(goal).toMatchObject({ status, reason });
    expect(turns).toHaveLength(1);
  });

  test("is paused by an interrupt", async () => {
    const server = repeating([{ text: "Hm." }, { hang: true }]);
    const client = server.connect();
    const threadId = await client.startThread();
    await client.call("thread/goal/set", { threadId, objective: "Ship it", pursue: {} });
    await client.call("turn/interrupt", { threadId, turnId: await client.startTurn(threadId, "go") });
    const { data } = await client.waitFor("thread/goal/updated", ({ data }) => data.goal.status === "paused");
    expect(data.goal.reason).toBe("The turn was interrupted.");
  });

  test("gives way to input that was queued meanwhile", async () => {
    const scripts = [[{ text: "One." }], [{ text: "Two." }], [{ text: "GOAL REACHED" }]];
    const server = testEngine({ scripts });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.call("thread/goal/set", { threadId, objective: "Ship it", pursue: {} });
    await client.startTurn(threadId, "go");
    const input = [{ type: "text" as const, text: "and this" }];
    await client.call("turn/start", { threadId, input, delivery: "queue" });
    await client.waitFor("thread/goal/updated", ({ data }) => data.goal.status === "complete");
    expect(server.driver.turns.map(({ input: given }) => JSON.stringify(given))).toEqual([
      expect.stringContaining("go"),
      expect.stringContaining("and this"),
      expect.stringContaining("The goal is not reached yet"),
    ]);
  });

  test("rejects a limit that its agent never reports enough to keep", async () => {
    const driver = new BareDriver({ run: async () => ({ status: "completed" }) });
    const reports = { tokens: "never", steps: "never", costUsd: "never" } as const;
    const client = testEngine({
      driver: Object.assign(driver, { usageReports: async () => reports }),
    }).connect();
    const threadId = await client.startThread();
    const set = client.call("thread/goal/set", { threadId, objective: "x", pursue: { maxCostUsd: 1 } });
    await expect(set).rejects.toMatchObject({ kind: "invalidParams" });
    expect((await client.call("thread/goal/get", { threadId })).goal).toBeNull();
  });
});
