import { ScriptedDriver, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

function twoAgents(other: Partial<ConstructorParameters<typeof ScriptedDriver>[0]> = {}) {
  const driver = new ScriptedDriver({ id: "first", nativeId: "first-session" });
  const second = new ScriptedDriver({ id: "second", nativeId: "second-session", ...other });
  const server = testEngine({ driver, otherDrivers: [second] });
  return { server, first: driver, second, client: server.connect() };
}

describe("another agent that takes over a thread", () => {
  test("gets a summary of the turns so far, and an item marks the handoff", async () => {
    const { client, second } = twoAgents();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "find the bug");
    const model = (await second.models())[0]?.id ?? "";
    const turn = await client.turnEnd(await client.startTurn(threadId, "now fix it", { model }));
    expect(second.sessions[0]?.handoffSummary).toBe("User: find the bug\nAgent: You said: find the bug");
    expect(turn.items.find((item) => item.type === "agentHandoff")).toMatchObject({
      fromAgent: "first",
      toAgent: "second",
      missedTurns: 1,
    });
  });

  test("hands back to the first one, which resumes its own session with a summary of what it missed", async () => {
    const { client, first, second } = twoAgents();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "one");
    const there = (await second.models())[0]?.id ?? "";
    const back = (await first.models())[0]?.id ?? "";
    await client.turnEnd(await client.startTurn(threadId, "two", { model: there }));
    await client.turnEnd(await client.startTurn(threadId, "three", { model: back }));
    expect(first.sessions.map(({ nativeId }) => nativeId)).toEqual([undefined, "first-session"]);
    expect(first.sessions[1]?.handoffSummary).toBe("User: two\nAgent: You said: two");
  });

  test("is not marked when the same agent continues", async () => {
    const { client, first } = twoAgents();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "one");
    const turn = await client.runTurn(threadId, "two");
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "agentMessage"]);
    expect(first.sessions).toHaveLength(1);
  });
});
