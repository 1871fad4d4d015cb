import { testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const USAGE = { type: "usage", last: { inputTokens: 30, outputTokens: 12 } } as const;

describe("the goal of a thread", () => {
  test("is stored, sent to all subscribers, and given to the agent once, with its next turn", async () => {
    const server = testEngine({ scripts: [[{ text: "On it." }], [{ text: "Still." }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    expect(await client.call("thread/goal/get", { threadId })).toEqual({ goal: null });
    const { goal } = await client.call("thread/goal/set", {
      threadId,
      objective: "Ship it",
      tokenBudget: 900,
    });
    expect(goal).toMatchObject({ objective: "Ship it", status: "active", tokenBudget: 900, tokensUsed: 0 });
    expect(client.eventsOf("thread/goal/updated")[0]?.data).toEqual({ threadId, goal });
    await client.runTurn(threadId, "go");
    await client.runTurn(threadId, "on");
    expect(server.driver.turns.map(({ input }) => input)).toEqual([
      [
        { type: "text", text: expect.stringContaining("Ship it") },
        { type: "text", text: "go" },
      ],
      [{ type: "text", text: "on" }],
    ]);
    expect(await client.call("thread/goal/clear", { threadId })).toEqual({ cleared: true });
    expect(await client.call("thread/goal/clear", { threadId })).toEqual({ cleared: false });
    expect(await client.call("thread/goal/get", { threadId })).toEqual({ goal: null });
  });

  test("survives a restart, with its usage", async () => {
    const first = testEngine({ scripts: [[{ emit: USAGE }, { text: "Hm." }]] });
    const client = first.connect();
    const threadId = await client.startThread();
    await client.call("thread/goal/set", { threadId, objective: "Ship it" });
    await client.runTurn(threadId, "go");
    await first.close();
    const second = testEngine({ store: first.store }).connect();
    const { goal } = await second.call("thread/goal/get", { threadId });
    expect(goal).toMatchObject({ objective: "Ship it", tokensUsed: 42 });
  });

  test("can be paused; a new objective resets the usage", async () => {
    const client = testEngine({ scripts: [[{ emit: USAGE }, { text: "Done." }]] }).connect();
    const threadId = await client.startThread();
    await client.call("thread/goal/set", { threadId, objective: "one", tokenBudget: 10 });
    const paused = await client.call("thread/goal/set", { threadId, status: "paused" });
    expect(paused.goal).toMatchObject({ objective: "one", status: "paused", tokenBudget: 10 });
    await client.call("thread/goal/set", { threadId, status: "active" });
    await client.runTurn(threadId, "work");
    expect((await client.call("thread/goal/get", { threadId })).goal?.tokensUsed).toBe(42);
    const other = await client.call("thread/goal/set", { threadId, objective: "two", tokenBudget: null });
    expect(other.goal).toMatchObject({
      objective: "two",
      status: "active",
      tokensUsed: 0,
      timeUsedSeconds: 0,
    });
    expect(other.goal.tokenBudget).toBeUndefined();
  });

  test("needs an objective first", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    const refused = client.call("thread/goal/set", { threadId, status: "paused" });
    await expect(refused).rejects.toMatchObject({ kind: "invalidParams", data: { field: "objective" } });
  });
});
