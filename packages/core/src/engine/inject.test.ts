import { LIMITS } from "@flint/protocol";
import { ScriptedDriver, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const MESSAGES = [
  { role: "user", text: "The lamp is green." },
  { role: "assistant", text: "Noted: green." },
] as const;

function server() {
  const driver = new ScriptedDriver({ id: "first", nativeId: "first-session" });
  return { driver, client: testEngine({ driver }).connect() };
}

describe("messages that a client adds to the history", () => {
  test("are a turn of their own, which no agent runs", async () => {
    const { client, driver } = server();
    const threadId = await client.startThread();
    const { turn } = await client.call("thread/inject", { threadId, messages: [...MESSAGES] });
    expect(turn).toMatchObject({
      ...{ kind: "injected", status: "completed" },
      items: [
        { type: "userMessage", content: [{ type: "text", text: "The lamp is green." }] },
        { type: "agentMessage", text: "Noted: green." },
      ],
    });
    expect(driver.sessions).toEqual([]);
    const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.map(({ id }) => id)).toEqual([turn.id]);
  });

  test("reach an agent that has not worked in the thread yet", async () => {
    const { client, driver } = server();
    const threadId = await client.startThread();
    await client.call("thread/inject", { threadId, messages: [...MESSAGES] });
    await client.runTurn(threadId, "which colour?");
    expect(driver.sessions[0]?.handoffSummary).toBe("User: The lamp is green.\nAgent: Noted: green.");
  });

  test("reach an agent whose session is open already, once", async () => {
    const { client, driver } = server();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "hello");
    await client.call("thread/inject", { threadId, messages: [...MESSAGES] });
    await client.runTurn(threadId, "which colour?");
    await client.runTurn(threadId, "and now?");
    expect(driver.sessions.map(({ nativeId }) => nativeId)).toEqual([undefined, "first-session"]);
    expect(driver.sessions[1]?.handoffSummary).toBe("User: The lamp is green.\nAgent: Noted: green.");
  });

  test("are not cut for the agent", async () => {
    const { client, driver } = server();
    const threadId = await client.startThread();
    const text = "x".repeat(LIMITS.injected);
    await client.call("thread/inject", { threadId, messages: [{ role: "user", text }] });
    await client.runTurn(threadId, "go on");
    expect(driver.sessions[0]?.handoffSummary).toBe(`User: ${text}`);
  });

  test("are rejected if they are too long to be given to an agent, with the limit", async () => {
    const { client } = server();
    const threadId = await client.startThread();
    const text = "x".repeat(LIMITS.injected + 1);
    await expect(
      client.call("thread/inject", { threadId, messages: [{ role: "user", text }] }),
    ).rejects.toThrow(`at most ${LIMITS.injected}`);
  });
});
