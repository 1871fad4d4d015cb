import type { EventType } from "@flint/protocol";
import { Gate, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

test("events of changes name the client that asked for them", async () => {
  const server = testEngine();
  const client = server.connect();
  const clientInfo = { name: "zed", title: "Zed", version: "1" };
  await client.call("initialize", { clientInfo });
  const threadId = await client.startThread();
  await client.runTurn(threadId, "hi");
  const { turns } = await client.call("thread/attach", { threadId });
  await client.call("thread/settings/update", { threadId, approvalPolicy: "never" });
  await client.call("thread/name/set", { threadId, name: "better" });
  await client.call("thread/goal/set", { threadId, objective: "peace" });
  await client.call("thread/goal/clear", { threadId });
  await client.call("thread/archive", { threadId });
  await client.call("thread/unarchive", { threadId });
  const beforeTurnId = turns[0]?.id ?? "";
  const { revertId = "" } = await client.call("thread/revert", { threadId, beforeTurnId });
  await client.call("thread/revert/undo", { threadId, revertId });
  await client.call("thread/delete", { threadId });
  await client.waitFor("thread/deleted");
  const named: EventType[] = [
    ...(["thread/settings/updated", "thread/name/updated", "thread/goal/updated"] as const),
    ...(["thread/goal/cleared", "thread/archived", "thread/unarchived"] as const),
    ...(["thread/reverted", "thread/revert/undone", "thread/deleted"] as const),
  ];
  const withName = client.events.filter(({ data }) => "client" in data && data.client === "Zed");
  expect(withName.map(({ type }) => type)).toEqual(named);
});

test("changes of the queue name the client that asked for them, and its end by a turn names none", async () => {
  const gate = new Gate();
  const server = testEngine({ scripts: [[{ wait: gate }]] });
  const client = server.connect();
  await client.call("initialize", { clientInfo: { name: "zed", version: "1" } });
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "wait");
  const input = [{ type: "text", text: "next" } as const];
  const queue = async () =>
    (await client.call("turn/start", { threadId, input, delivery: "queue" })).queuedInput?.id ?? "";
  const [one, two] = [await queue(), await queue()];
  await client.call("thread/queue/reorder", { threadId, queuedInputIds: [two, one] });
  await client.call("thread/queue/update", { threadId, queuedInputId: one, input });
  await client.call("thread/queue/delete", { threadId, queuedInputId: one });
  gate.open();
  await client.turnEnd(turnId);
  await client.waitFor("thread/queue/changed", ({ data }) => data.queue.length === 0);
  const names = client.eventsOf("thread/queue/changed").map(({ data }) => data.client);
  expect(names).toEqual([...Array.from({ length: 5 }, () => "zed"), undefined]);
});

test("the end of a turn names the client that interrupted it, and no other end does", async () => {
  const server = testEngine({ scripts: [[{ text: "done" }], [{ wait: new Gate() }]] });
  const client = server.connect();
  await client.call("initialize", { clientInfo: { name: "zed", version: "1" } });
  const threadId = await client.startThread();
  await client.runTurn(threadId, "hi");
  const turnId = await client.startTurn(threadId, "wait");
  await client.call("turn/interrupt", { threadId });
  await client.turnEnd(turnId);
  const ends = client.events.filter(({ type }) => type === "turn/completed");
  expect(ends.map(({ data }) => Reflect.get(data, "client"))).toEqual([undefined, "zed"]);
});
