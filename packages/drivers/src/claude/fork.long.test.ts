import { needs, realSandbox, testEngine } from "@flint/testkit";
import { expect } from "vitest";
import { realClaude, run } from "./testing/claude-fixture.ts";

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

test("begins with a summary in a fork of a turn that the session does not have", async () => {
  const fixture = await realClaude();
  const { turn } = await run(fixture, "hello");
  const nativeId = turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const handoffSummary = async () => "everything at once";
  const forkOf = { nativeId, position: "00000000-0000-4000-8000-000000000000", handoffSummary };
  const fork = await run(fixture, "hi", {}, await fixture.open({ forkOf, handoffSummary }));
  expect(fork.outcome).toEqual({ status: "completed" });
  const asked = JSON.stringify(fixture.model.requests.at(-1)?.body.messages);
  expect(["hello", "everything at once"].map((text) => asked.includes(text))).toEqual([false, true]);
  const message = expect.stringContaining("summary of the thread");
  const failure = { type: "extension", method: "anthropic/forkFailed", params: { message } };
  expect(fork.turn.events).toContainEqual(failure);
});
