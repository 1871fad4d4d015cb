import { FlintError } from "@flint/protocol";
import { expect, test } from "vitest";
import { Gate } from "./scripted/script.ts";
import { testEngine } from "./test-engine.ts";

test("a client remembers events, answers and refusals in the order they came", async () => {
  const client = testEngine().connect();
  const threadId = await client.startThread();
  await expect(client.call("turn/interrupt", { threadId })).rejects.toBeInstanceOf(FlintError);
  await client.runTurn(threadId, "hi");
  expect(client.order.slice(0, 4)).toEqual([
    "<- thread/start",
    "thread/started",
    "x turn/interrupt",
    "<- turn/start",
  ]);
  expect(client.received).toHaveLength(client.order.length);
  expect(client.events).toHaveLength(client.order.length - 3);
});

test("a client waits for an event that came already as well as for one that comes later", async () => {
  const gate = new Gate();
  const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
  const threadId = await client.startThread();
  const later = client.waitFor("turn/completed", (event) => event.data.turn.status === "completed");
  const turnId = await client.startTurn(threadId, "hi");
  expect((await client.waitFor("turn/started")).data.turn.id).toBe(turnId);
  gate.open();
  expect((await later).data.turn.id).toBe(turnId);
});

test("a client that stops reading receives later what it missed", async () => {
  const made = testEngine();
  const [owner, stalled] = [made.connect(), made.connect()];
  const threadId = await owner.startThread();
  await stalled.call("thread/attach", { threadId });
  stalled.full = true;
  await owner.runTurn(threadId, "hi");
  expect(stalled.events).toEqual([]);
  stalled.drained();
  expect((await stalled.waitFor("turn/completed")).data.turn.status).toBe("completed");
});

test("params are checked as at any front end", async () => {
  const client = testEngine().connect();
  await expect(client.call("thread/read", { threadId: "../up" })).rejects.toThrow();
});

test("an agent that never stops does not keep a test from ending", async () => {
  const client = testEngine({ scripts: [[{ hang: true }]] }).connect();
  await client.startTurn(await client.startThread(), "go");
});
