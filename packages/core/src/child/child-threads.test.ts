import type { DriverEvent } from "@flint/core/ports";
import { MemoryStore } from "@flint/host/store";
import type { Item, ThreadItem } from "@flint/protocol";
import { Gate, type Script, type TestClient, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

const CALL: Item<"toolCall"> = {
  ...{ type: "toolCall", id: "call", tool: "Task", title: "look around", status: "inProgress" },
  subAgent: { prompt: "Look around.", kind: "explorer" },
};
const INNER: Item<"toolCall"> = {
  ...{ type: "toolCall", id: "inner", tool: "Task", status: "inProgress", parentItemId: "call" },
  subAgent: { prompt: "Look closer.", kind: "helper" },
};
const COMMAND: Item<"commandExecution"> = {
  ...{ type: "commandExecution", id: "ls", command: "ls", cwd: "/w", status: "inProgress" },
  parentItemId: "call",
};

const started = (item: ThreadItem): { emit: DriverEvent } => ({ emit: { type: "item/started", item } });
const completed = (item: ThreadItem): { emit: DriverEvent } => ({ emit: { type: "item/completed", item } });
const says = (id: string, text: string, parentItemId: string) => {
  const item: ThreadItem = { type: "subAgentMessage", id, text, parentItemId };
  return [started(item), completed(item)];
};

/** A turn whose agent starts a sub-agent, which starts another one; `middle`: the first has begun a command. */
function delegation(middle: Gate): Script {
  return [
    started(CALL),
    started(COMMAND),
    { wait: middle },
    { emit: { type: "item/commandExecution/outputDelta", itemId: "ls", delta: "a.txt\n" } },
    completed({ ...COMMAND, status: "completed", aggregatedOutput: "a.txt\n" }),
    started(INNER),
    ...says("closer", "It is small.", "inner"),
    completed({ ...INNER, status: "completed" }),
    ...says("found", "There is a file.", "call"),
    { usage: { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 } },
    completed({ ...CALL, status: "completed", result: "There is a file." }),
    { text: "Done." },
  ];
}

async function delegated(store = new MemoryStore()) {
  const middle = new Gate();
  const server = testEngine({ store, scripts: [delegation(middle), [{ text: "Again." }]] });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "delegate");
  await middle.reached;
  const [child] = await childrenOf(client, threadId);
  return { server, store, client, threadId, turnId, middle, childId: child?.id ?? "" };
}

async function childrenOf(client: TestClient, parentThreadId: string) {
  return (await client.call("thread/list", { parentThreadId })).data;
}

/** Returns the content of a thread, one line for each item. */
async function shown(client: TestClient, threadId: string): Promise<string[]> {
  const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true });
  return turns.flatMap(({ items }) => items.map(lineOf));
}

function lineOf(item: ThreadItem): string {
  const { type, id, parentItemId = "-" } = { parentItemId: undefined, ...item };
  return `${type} ${id.endsWith("-prompt") ? "prompt" : id} below ${parentItemId}`;
}

const CHILD_LINES = [
  "userMessage prompt below -",
  "commandExecution ls below -",
  "toolCall inner below -",
  "subAgentMessage closer below inner",
  "agentMessage found below -",
];

test("the work of a sub-agent is a thread of its own, which its call names and its parent lists", async () => {
  const { client, threadId, turnId, middle, childId } = await delegated();
  const begun = await client.call("thread/read", { threadId: childId, includeTurns: true });
  expect(begun.thread).toMatchObject({
    ...{ id: childId, parentThreadId: threadId, name: "look around", preview: "Look around." },
    status: { type: "active" },
  });
  expect(begun.turns).toMatchObject([{ status: "inProgress", items: [{}, { id: "ls" }] }]);
  middle.open();
  const { items } = await client.turnEnd(turnId);
  expect(items.find(({ id }) => id === "call")).toMatchObject({ subAgent: { threadId: childId } });
  expect(await shown(client, childId)).toEqual(CHILD_LINES);
  const [child] = await childrenOf(client, threadId);
  expect(child).toMatchObject({ id: childId, status: { type: "idle" } });
  const [inner, ...others] = await childrenOf(client, childId);
  expect(others).toEqual([]);
  expect(inner).toMatchObject({ parentThreadId: childId, preview: "Look closer." });
  expect(await shown(client, inner?.id ?? "")).toEqual([
    "userMessage prompt below -",
    "agentMessage closer below -",
  ]);
  const { data } = await client.call("thread/list", {});
  expect(data.map(({ id }) => id)).toEqual([threadId]);
});

test("a client that attaches to it while it works gets the rest live, and nothing of the parent", async () => {
  const { server, client, turnId, middle, childId } = await delegated();
  const watcher = server.connect();
  const attached = await watcher.call("thread/attach", { threadId: childId });
  expect(attached.turns.flatMap(({ items }) => items.map(lineOf))).toEqual(CHILD_LINES.slice(0, 2));
  expect(attached.openItemIds).toEqual(["ls"]);
  middle.open();
  await client.turnEnd(turnId);
  const { data } = await watcher.waitFor("turn/completed");
  expect(data).toMatchObject({ threadId: childId, turn: { id: childId, status: "completed" } });
  expect(watcher.order).toEqual([
    "<- thread/attach",
    "item/commandExecution/outputDelta",
    ...["item/completed", "item/started", "item/started", "item/completed", "item/completed"],
    ...["item/started", "item/completed", "turn/completed", "thread/status/changed"],
  ]);
  const numbers = watcher.events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
  expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
  expect(watcher.events.every(({ data: of }) => Reflect.get(of, "threadId") === childId)).toBe(true);
});

test("what it returned is its last message, unless it has said the same", async () => {
  const returned = completed({ ...CALL, status: "completed", result: "All seen." });
  const server = testEngine({ scripts: [[started(CALL), ...says("said", "I look.", "call"), returned]] });
  const client = server.connect();
  const threadId = await client.startThread();
  await client.runTurn(threadId, "delegate");
  const [child] = await childrenOf(client, threadId);
  const { turns } = await client.call("thread/read", { threadId: child?.id ?? "", includeTurns: true });
  expect(turns?.[0]?.items.slice(1)).toMatchObject([{ text: "I look." }, { text: "All seen." }]);
  client.clear();
  await client.call("thread/resume", { threadId: child?.id ?? "" });
  await client.waitFor("turn/completed");
  const replayed = client.eventsOf("item/completed").map(({ data }) => Reflect.get(data.item, "text"));
  expect(replayed.slice(1)).toEqual(["I look.", "All seen."]);
});

test("it is still there for another server, replayed whole by thread/resume", async () => {
  const { server, store, client, turnId, middle, childId } = await delegated();
  middle.open();
  await client.turnEnd(turnId);
  await server.close();
  const later = testEngine({ store }).connect();
  expect((await later.call("thread/read", { threadId: childId })).thread.status.type).toBe("notLoaded");
  expect(await shown(later, childId)).toEqual(CHILD_LINES);
  const { events } = await later.call("thread/events/list", { threadId: childId });
  later.clear();
  const { seq } = await later.call("thread/resume", { threadId: childId });
  expect(seq).toBe(events.at(-1)?.seq);
  await later.waitFor("turn/completed");
  expect(later.order.slice(0, 5)).toEqual([
    ...["<- thread/resume", "thread/started", "turn/started", "item/started", "item/completed"],
  ]);
});

test("it takes no input and no change: the error names the thread that does", async () => {
  const { client, threadId, turnId, middle, childId } = await delegated();
  middle.open();
  await client.turnEnd(turnId);
  const refused = { kind: "unsupported", data: { threadId: childId, parentThreadId: threadId } };
  const input = [{ type: "text" as const, text: "more" }];
  const turn = client.call("turn/start", { threadId: childId, input });
  await expect(turn).rejects.toMatchObject({ ...refused, message: expect.stringContaining(threadId) });
  await expect(client.call("thread/delete", { threadId: childId })).rejects.toMatchObject(refused);
  await expect(client.call("thread/fork", { threadId: childId })).rejects.toMatchObject(refused);
  expect(await shown(client, childId)).toEqual(CHILD_LINES);
});

test("it is archived, reverted, restored and deleted with its parent, and a fork has its own", async () => {
  const { client, threadId, turnId, middle, childId } = await delegated();
  middle.open();
  await client.turnEnd(turnId);
  const forked = (await client.call("thread/fork", { threadId })).thread.id;
  const [copy] = await childrenOf(client, forked);
  expect(copy?.id).not.toBe(childId);
  expect(await shown(client, copy?.id ?? "")).toEqual(CHILD_LINES);

  await client.call("thread/archive", { threadId });
  expect((await client.call("thread/read", { threadId: childId })).thread.archived).toBe(true);
  await client.call("thread/unarchive", { threadId });

  const { revertId = "" } = await client.call("thread/revert", { threadId, beforeTurnId: turnId });
  const gone = { kind: "threadNotFound", data: { threadId: childId } };
  expect(await childrenOf(client, threadId)).toEqual([]);
  await expect(client.call("thread/read", { threadId: childId })).rejects.toMatchObject(gone);
  await client.call("thread/revert/undo", { threadId, revertId });
  expect(await shown(client, childId)).toEqual(CHILD_LINES);

  await client.call("thread/delete", { threadId });
  await expect(client.call("thread/read", { threadId: childId })).rejects.toMatchObject(gone);
  expect(await shown(client, copy?.id ?? "")).toEqual(CHILD_LINES);
});

test("a sub-agent whose turn is interrupted has failed, and its usage counts in the parent alone", async () => {
  const { server, client, threadId, turnId, childId } = await delegated();
  const watcher = server.connect();
  const { usage } = await watcher.call("thread/attach", { threadId: childId });
  expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  await client.call("turn/interrupt", { threadId, turnId });
  const { data } = await watcher.waitFor("turn/completed");
  expect(data.turn).toMatchObject({ id: childId, status: "failed" });
  const { thread } = await client.call("thread/read", { threadId: childId });
  expect(thread).toMatchObject({ status: { type: "idle" }, lastTurnFailed: true });
});
