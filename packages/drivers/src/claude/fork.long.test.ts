import { needs, realSandbox, testEngine } from "@flint/testkit";
import { expect } from "vitest";
import { realClaude } from "./testing/claude-fixture.ts";

const test = needs("claude");

test("continues a fork of an earlier turn, and a rolled back thread, in a copy that ends there", async () => {
  const fixture = await realClaude();
  const { workspace: cwd, driver, model } = fixture;
  const client = testEngine({ otherDrivers: [driver], sandbox: realSandbox(), cwd }).connect();
  const threadId = await client.startThread({ model: "claude/default" });
  const first = await client.runTurn(threadId, "hello, lamp");
  await client.runTurn(threadId, "hello, lantern");
  const { thread: fork } = await client.call("thread/fork", { threadId, lastTurnId: first.id });
  await client.call("thread/rollback", { threadId, numTurns: 1 });
  for (const id of [fork.id, threadId]) {
    const { status, items } = await client.runTurn(id, "what did I ask you?");
    expect([status, JSON.stringify(items)]).toEqual(["completed", expect.stringContaining("1. hello, lamp")]);
    // Its own messages, and no summary of them.
    const { messages } = model.requests.at(-1)?.body ?? {};
    const asked = JSON.stringify(messages);
    expect(asked).toContain('"hello, lamp"');
    for (const other of ["lantern", "User: hello"]) expect(asked).not.toContain(other);
  }
  expect(client.eventsOf("extension/notified").map(({ data }) => data.method)).not.toContain(
    "anthropic/forkFailed",
  );
});
