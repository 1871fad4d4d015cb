import { EVENTS, type ITEMS } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { connect } from "../connect.ts";
import type { Warning } from "../errors.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import {
  aThread,
  aTurn,
  FakeServer,
  FakeThread,
  NO_ANSWER,
  Refusal,
  SETTINGS,
} from "../testing/fake-server.ts";
import type { FlintClient } from "./flint-client.ts";

async function connected(server: FakeServer, warnings: Warning[] = []): Promise<FlintClient> {
  return connect({ transport: server.transport, onWarning: (warning) => warnings.push(warning) });
}

async function take(stream: AsyncIterable<AgentEvent>, count: number): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  if (count === 0) return events;
  for await (const event of stream) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

describe("a request", () => {
  test("that is refused becomes an error with a stable kind", async () => {
    const server = new FakeServer();
    const client = await connected(server);
    server.answer("thread/read", () => {
      throw new Refusal("threadNotFound", "No thread has the id x.", { reason: "threadNotFound", hint: 1 });
    });
    const refused = client.call("thread/read", { threadId: "x" });
    await expect(refused).rejects.toMatchObject({
      name: "FlintRequestError",
      kind: "threadNotFound",
      code: -32001,
      method: "thread/read",
      message: "No thread has the id x.",
      data: { reason: "threadNotFound", hint: 1 },
    });
    await client.close();
  });

  test.each([
    ["turnInProgress", undefined, "turnInProgress"],
    ["threadNotFound", { reason: "somethingNewer" }, "unknown"],
    ["overloaded", "no object", "overloaded"],
  ] as const)("refused as %s with data %j is of kind %s", async (kind, data, expected) => {
    const server = new FakeServer().answer("model/list", () => {
      throw new Refusal(kind, "no", data);
    });
    const client = await connected(server);
    await expect(client.models()).rejects.toHaveProperty("kind", expected);
    await client.close();
  });

  test("whose answer makes no sense is an error, not a wrong value", async () => {
    const server = new FakeServer().answer("model/list", () => ({ data: [{ id: 7 }] }));
    const client = await connected(server);
    await expect(client.models()).rejects.toMatchObject({
      kind: "badAnswer",
      message: expect.stringContaining("data.0.id"),
    });
    await client.close();
  });

  test("preserves the fields of a newer server", async () => {
    const model = { id: "a/b", displayName: "B", isDefault: true, newer: { yes: 1 } };
    const server = new FakeServer().answer("model/list", () => ({ data: [model] }));
    const client = await connected(server);
    expect(await client.models()).toEqual([model]);
    await client.close();
  });

  test("can be given up by a signal or a time limit", async () => {
    const server = new FakeServer().answer("model/list", () => NO_ANSWER);
    const client = await connected(server);
    const controller = new AbortController();
    const given = client.models({}, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await expect(client.models({}, { timeoutMs: 1 })).rejects.toHaveProperty("kind", "timedOut");
    await client.close();
  });

  test("is rejected at once when the server hangs up, as are all others and all readers [S4-36]", async () => {
    const server = new FakeServer()
      .answer("model/list", () => NO_ANSWER)
      .answer("thread/list", () => NO_ANSWER);
    const client = await connected(server);
    const reading = take(client.events(), 1);
    const pending = [client.models(), client.listThreads(), reading];
    const asked = server.next("thread/list");
    const outcomes = Promise.allSettled(pending);
    await asked;
    server.close();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { kind: "closed" } });
    }
    expect(await client.closed).toHaveProperty("kind", "closed");
    await expect(client.models()).rejects.toHaveProperty("kind", "closed");
    await expect(take(client.events(), 1)).rejects.toHaveProperty("kind", "closed");
  });

  test("is rejected when the client closes, and readers come to a plain end", async () => {
    const server = new FakeServer().answer("model/list", () => NO_ANSWER);
    const client = await connected(server);
    const reading = take(client.events(), 1);
    const asking = client.models();
    const refused = expect(asking).rejects.toHaveProperty("kind", "closed");
    await client.close();
    await refused;
    expect(await reading).toEqual([]);
    expect(await client.closed).toBeUndefined();
  });

  test("finds its answer whatever the order of the answers [S4-36]", async () => {
    const server = new FakeServer();
    const client = await connected(server);
    server.answer("model/list", () => NO_ANSWER).answer("thread/list", () => ({ data: [aThread("t")] }));
    const models = client.models();
    expect((await client.listThreads()).data).toHaveLength(1);
    server.sayRaw(JSON.stringify({ id: 1, result: { data: [] } }));
    expect(await models).toEqual([]);
    await client.close();
  });
});

describe("AppServerClient", () => {
  const place = { threadId: "t", turnId: "u" };
  const delta = { ...place, itemId: "i", delta: "x", offset: 0 };
  const option = { type: "select", id: "effort", name: "Effort", options: [], value: "low" };
  const approval = {
    id: "a",
    turnId: "u",
    action: { kind: "command", itemId: "i", command: "ls", cwd: "/" },
    requestedAtMs: 1,
    expiresAtMs: 2,
  };
  const question = { id: "q", turnId: "u", itemId: "i", questions: [], requestedAtMs: 1, expiresAtMs: 2 };
  const toolCall = { id: "c", turnId: "u", itemId: "i", tool: "x", requestedAtMs: 1, expiresAtMs: 2 };
  const usage = { inputTokens: 1, outputTokens: 2 };
  const counters = { tokensUsed: 0, timeUsedSeconds: 0, createdAt: 1, updatedAt: 1 };
  const goal = { objective: "o", status: "active", ...counters };
  const grant = {
    ...{ id: "g", project: "/", tool: "command", match: { type: "exact", command: "ls", cwd: "/" } },
    ...{ scope: "once", words: "run: ls (in /)", grantedAt: 1 },
  };
  const samples: Record<keyof typeof EVENTS, object> = {
    "thread/started": { thread: aThread("t"), settings: SETTINGS },
    "thread/settings/updated": { threadId: "t", settings: SETTINGS },
    "thread/name/updated": { threadId: "t", name: "n" },
    "thread/commands/updated": { threadId: "t", agent: "a", commands: [{ name: "c" }] },
    "thread/goal/updated": { threadId: "t", goal },
    "thread/goal/cleared": { threadId: "t" },
    "thread/archived": { threadId: "t" },
    "thread/unarchived": { threadId: "t" },
    "thread/deleted": { threadId: "t" },
    "thread/closed": { threadId: "t" },
    "thread/status/changed": { threadId: "t", status: { type: "idle" } },
    "thread/session/updated": { threadId: "t", agent: "a", nativeId: "n" },
    "thread/reverted": { threadId: "t", turnIds: ["u"] },
    "thread/revert/undone": { threadId: "t", revertId: "r", turns: [aTurn("u")] },
    "thread/queue/changed": { threadId: "t", queue: [] },
    "grant/changed": { threadId: "t", grant, status: "added" },
    "thread/tokenUsage/updated": { ...place, usage, last: usage },
    "turn/started": { threadId: "t", turn: aTurn("u") },
    "turn/completed": { threadId: "t", turn: aTurn("u", { status: "completed" }) },
    "turn/plan/updated": { ...place, explanation: "e", plan: [{ step: "s", status: "pending" }] },
    "turn/diff/updated": { ...place, diff: "d" },
    "item/started": { ...place, item: { type: "agentMessage", id: "i", text: "" } },
    "item/completed": { ...place, item: { type: "agentMessage", id: "i", text: "x" } },
    "item/agentMessage/delta": delta,
    "item/reasoning/textDelta": delta,
    "item/reasoning/summaryTextDelta": delta,
    "item/commandExecution/outputDelta": delta,
    "item/fileChange/outputDelta": delta,
    "item/plan/delta": delta,
    "item/fileChange/patchUpdated": { ...place, itemId: "i", changes: [] },
    "item/mcpToolCall/progress": { ...place, itemId: "i", message: "half" },
    "approval/requested": { threadId: "t", approval },
    "approval/resolved": {
      ...place,
      approvalId: "a",
      itemId: "i",
      resolution: { decision: { outcome: "allow", scope: "once" }, by: "client" },
    },
    "question/requested": { threadId: "t", request: question },
    "question/resolved": { ...place, questionId: "q", itemId: "i", answers: {}, by: "client" },
    "tool/requested": { threadId: "t", request: toolCall },
    "tool/resolved": { ...place, callId: "c", itemId: "i", success: true, by: "client" },
    error: { ...place, error: { message: "m" }, willRetry: true },
    warning: { threadId: "t", message: "m", reason: "r" },
    "model/rerouted": { ...place, fromModel: "a", toModel: "b", reason: "r" },
    "config/updated": { threadId: "t", options: [option] },
    "account/login/completed": { agent: "a", success: true },
    "account/updated": { agent: "a", account: null },
    "account/limits": { threadId: "t", agent: "a", limits: [] },
    "task/event": {
      event: {
        ...{ event_id: "e", type: "task:turn", id: "k", plan_id: "k", project: "/repo", status: "started" },
        ...{ source: "worker", v: 1, ts: "2026-01-01T00:00:00Z", extra: {} },
      },
    },
    "extension/notified": { threadId: "t", method: "x/y", params: {} },
  };

  test("turns every notification into an agent event with its position in the log [S0-99]", async () => {
    const server = new FakeServer();
    const warnings: Warning[] = [];
    const client = await connected(server, warnings);
    const stream = client.events();
    const entries = Object.entries(samples);
    for (const [index, [method, params]] of entries.entries()) {
      server.notify(method, { ...params, seq: index + 1, at: index + 1000 });
    }
    const expected = entries.map(([type, data], index) => ({ type, data, seq: index + 1, at: index + 1000 }));
    expect(await take(stream, entries.length)).toEqual(expected);
    expect(entries).toHaveLength(Object.keys(EVENTS).length);
    expect(warnings).toEqual([]);
    await client.close();
  });

  test("preserves items of every type, and of unknown types, as received [S0-99, S0-88]", async () => {
    const work = { id: "i", status: "completed" };
    const items: Record<keyof typeof ITEMS, object> = {
      userMessage: { id: "i", content: [{ type: "text", text: "hi" }] },
      agentMessage: { id: "i", text: "hi" },
      reasoning: { id: "i", summary: "s" },
      commandExecution: { ...work, command: "ls", cwd: "/", exitCode: 0 },
      fileChange: { ...work, changes: [{ path: "/a", kind: "add", diff: "+a" }] },
      mcpToolCall: { ...work, server: "s", tool: "t" },
      toolCall: { ...work, tool: "t" },
      webSearch: { id: "i", query: "q" },
      plan: { id: "i", text: "p" },
      enteredReviewMode: { id: "i", review: "r" },
      exitedReviewMode: { id: "i", review: "r" },
      contextCompaction: { id: "i" },
      agentHandoff: { id: "i", fromAgent: "a", toAgent: "b", missedTurns: 2 },
      subAgentMessage: { id: "i", parentItemId: "p", text: "s" },
      hookRun: { ...work, event: "Stop" },
    };
    const unknown = { type: "hologram", id: "h", beam: { width: 3 }, _meta: { any: 1 } };
    const all = [...Object.entries(items).map(([type, item]) => ({ type, ...item })), unknown];
    const server = new FakeServer();
    const client = await connected(server);
    const stream = client.events("t");
    for (const item of all) server.notify("item/completed", { ...place, item });
    const events = await take(stream, all.length);
    expect(events.map((event) => (event.type === "item/completed" ? event.data.item : event))).toEqual(all);
    await client.close();
  });

  test("gives one thread's events to those who asked for that thread", async () => {
    const server = new FakeServer();
    const client = await connected(server);
    const one = client.events("one");
    const all = client.events();
    server.notify("thread/archived", { threadId: "two" });
    server.notify("config/updated", { options: [] });
    server.notify("vendor/thing", { threadId: "one", level: 3 });
    server.notify("thread/archived", { threadId: "one" });
    expect(await take(one, 2)).toEqual([
      { type: "unknown", method: "vendor/thing", params: { threadId: "one", level: 3 } },
      { type: "thread/archived", data: { threadId: "one" } },
    ]);
    expect(await take(all, 4)).toHaveLength(4);
    await client.close();
  });

  test("notes notifications it does not know and is not disturbed by them [S0-87, S4-40]", async () => {
    const server = new FakeServer();
    const warnings: Warning[] = [];
    const client = await connected(server, warnings);
    const stream = client.events();
    server.notify("anthropic/cache_updated", { hits: 2 });
    server.notify("thread/archived", { threadId: "t" });
    expect(await take(stream, 2)).toEqual([
      { type: "unknown", method: "anthropic/cache_updated", params: { hits: 2 } },
      { type: "thread/archived", data: { threadId: "t" } },
    ]);
    expect(warnings).toEqual([]);
    await client.close();
  });

  test("skips malformed lines and notifications with a warning and reads on [S4-41]", async () => {
    const server = new FakeServer();
    const warnings: Warning[] = [];
    const client = await connected(server, warnings);
    const stream = client.events();
    server.sayRaw("this is not JSON");
    server.sayRaw('{"id":1');
    server.sayRaw("[]");
    server.notify("thread/name/updated", { threadId: "t", name: 7 });
    server.sayRaw('{"method":"thread/archived"}');
    server.notify("thread/archived", { threadId: "t" });
    expect(await take(stream, 1)).toEqual([{ type: "thread/archived", data: { threadId: "t" } }]);
    expect(warnings.map(({ kind }) => kind)).toEqual([
      "malformedLine",
      "malformedLine",
      "malformedLine",
      "malformedNotification",
      "malformedNotification",
    ]);
    expect(warnings[3]?.message).toContain('"thread/name/updated" was skipped: name:');
    await client.close();
  });

  test("notifies the other listeners although one throws", async () => {
    const server = new FakeServer();
    const warnings: Warning[] = [];
    const client = await connected(server, warnings);
    client.subscribe({
      event: () => {
        throw new Error("my bug");
      },
      ended: () => {},
    });
    const stream = client.events();
    server.notify("thread/archived", { threadId: "t" });
    expect(await take(stream, 1)).toHaveLength(1);
    expect(warnings).toEqual([{ kind: "handlerFailed", message: "A fault in an event listener: my bug" }]);
    await client.close();
  });

  test("lets a slow reader attach again from where it stopped", async () => {
    const server = new FakeServer();
    const client = await connect({ transport: server.transport, buffer: { events: 4, characters: 2_000 } });
    const thread = new FakeThread(server, "t");
    const stream = client.events("t");
    server.answer("model/list", () => ({ data: [] }));
    thread.started();
    await stream.next();
    for (let count = 0; count < 50; count += 1) thread.stored("thread/name/updated", { name: "n" });
    await client.models();
    await expect(stream.next()).rejects.toMatchObject({ lastSeqs: new Map([["t", 1]]) });
    await client.close();
  });
});
