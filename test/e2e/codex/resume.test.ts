import { Gate, type Script, type WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  CodexServerUnderTest,
  fields,
  listOf,
  received,
  startThread,
  startTurn,
  turnEnd,
} from "./server-under-test.ts";

const SPENDS: Script = [
  { text: "Hello." },
  { usage: { inputTokens: 5, outputTokens: 2, thinkingTokens: 1 }, modelContextWindow: 100 },
];

/** A thread with this many turns, each of which uses 8 tokens. */
async function threadWithUsage(turns: number) {
  const server = await CodexServerUnderTest.open(onTestFinished, { scripts: () => SPENDS });
  const client = await server.client();
  const threadId = await startThread(client);
  const turnIds: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const turnId = await startTurn(client, threadId, "hi");
    await turnEnd(client, turnId);
    turnIds.push(turnId);
  }
  return { server, client, threadId, turnIds };
}

/** The usage that a client was sent, up to the goal of the thread. */
async function sentTokens(client: WireClient) {
  await client.waitFor(({ method }) => method === "thread/goal/cleared");
  return client.messages
    .filter(({ method }) => method === "thread/tokenUsage/updated")
    .map(({ params }) => params);
}

function tokens(times: number) {
  return {
    totalTokens: 8 * times,
    inputTokens: 5 * times,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 3 * times,
    reasoningOutputTokens: times,
  };
}

describe("a client that resumes a thread", () => {
  test("is sent its usage, total and last, and the context window", async () => {
    const { server, threadId, turnIds } = await threadWithUsage(2);
    const late = await server.client();
    await ask(late, "thread/resume", { threadId });
    const tokenUsage = { total: tokens(2), last: tokens(1), modelContextWindow: 100 };
    expect(await sentTokens(late)).toEqual([{ threadId, turnId: turnIds[1], tokenUsage }]);
    expect(received(late)).toEqual([
      "answer 1",
      "answer 2",
      "thread/tokenUsage/updated",
      "thread/goal/cleared",
    ]);
  });

  test("is sent it by a server that started later, also without the turns", async () => {
    const { server, threadId, turnIds } = await threadWithUsage(1);
    await server.engine.close();
    const late = await CodexServerUnderTest.openIn(server.cwd, onTestFinished).client();
    await ask(late, "thread/resume", { threadId, excludeTurns: true });
    const tokenUsage = { total: tokens(1), last: tokens(1), modelContextWindow: 100 };
    expect(await sentTokens(late)).toEqual([{ threadId, turnId: turnIds[0], tokenUsage }]);
  });

  test("is sent no usage where there was none", async () => {
    const { server, threadId } = await threadWithUsage(0);
    const late = await server.client();
    await ask(late, "thread/resume", { threadId });
    expect(await sentTokens(late)).toEqual([]);
  });

  test("gets a page of its turns with the answer, and continues from there", async () => {
    const { server, threadId, turnIds } = await threadWithUsage(3);
    const late = await server.client();
    const idsIn = (data: unknown) => listOf(data).map((turn) => fields(turn).id);
    const params = { threadId, excludeTurns: true, initialTurnsPage: { limit: 2 } };
    const resumed = await ask(late, "thread/resume", params);
    const { data, nextCursor } = fields(resumed.initialTurnsPage);
    expect(fields(resumed.thread).turns).toEqual([]);
    expect(idsIn(data)).toEqual([turnIds[2], turnIds[1]]);
    expect(listOf(data)[0]).toMatchObject({ itemsView: "summary", items: [{ type: "userMessage" }, {}] });
    const older = await ask(late, "thread/turns/list", { threadId, cursor: nextCursor });
    expect([idsIn(older.data), older.nextCursor]).toEqual([[turnIds[0]], null]);
    const initialTurnsPage = { sortDirection: "asc", itemsView: "full" };
    const all = await ask(late, "thread/resume", { threadId, initialTurnsPage });
    expect(fields(all.initialTurnsPage).data).toEqual(fields(all.thread).turns);
    expect(idsIn(fields(all.thread).turns)).toEqual(turnIds);
    expect((await ask(late, "thread/resume", { threadId })).initialTurnsPage).toBeNull();
  });

  test("gets the running turn as it is now, in the page too", async () => {
    const gate = new Gate();
    const scripts: Script[] = [[{ text: "one" }], [{ text: "two" }, { wait: gate }]];
    const server = await CodexServerUnderTest.open(onTestFinished, { scripts });
    const client = await server.client();
    const threadId = await startThread(client);
    await turnEnd(client, await startTurn(client, threadId, "hi"));
    const turnId = await startTurn(client, threadId, "hi");
    await gate.reached;
    const late = await server.client();
    const params = { threadId, initialTurnsPage: { limit: 1, itemsView: "full" } };
    const { initialTurnsPage, thread } = await ask(late, "thread/resume", params);
    const running = { id: turnId, status: "inProgress", items: [{}, { type: "agentMessage", text: "two" }] };
    expect(fields(initialTurnsPage).data).toMatchObject([running]);
    expect(fields(thread).turns).toMatchObject([{ status: "completed" }, running]);
    gate.open();
    await turnEnd(late, turnId);
    // The answer has the active status, so only the idle one is sent.
    expect(received(late).filter((entry) => entry.startsWith("thread/status"))).toEqual([
      "thread/status/changed idle",
    ]);
  });

  test("may send its id in every form of a UUID, and is sent the canonical one", async () => {
    const { server, threadId } = await threadWithUsage(1);
    const bare = threadId.replaceAll("-", "");
    for (const form of [threadId.toUpperCase(), bare, `urn:uuid:${threadId}`, `{${threadId}}`]) {
      const late = await server.client();
      expect(await ask(late, "thread/resume", { threadId: form })).toMatchObject({
        thread: { id: threadId },
      });
      await turnEnd(late, await startTurn(late, form, "again"));
      expect(await ask(late, "thread/unsubscribe", { threadId: form })).toEqual({ status: "unsubscribed" });
    }
    const client = await server.client();
    const unknown = "0199AAAA-0000-7000-8000-000000000000";
    await expect(client.request("thread/read", { threadId: unknown })).rejects.toThrow(unknown.toLowerCase());
    for (const strange of [`../${bare}`, `${bare}\0`])
      await expect(client.request("thread/read", { threadId: strange })).rejects.toThrow("invalid thread id");
  });

  test("is sent the usage of a fork up to its cut, before it starts", async () => {
    const { client, threadId, turnIds } = await threadWithUsage(2);
    const after = client.mark;
    const { thread } = await ask(client, "thread/fork", { threadId, lastTurnId: turnIds[0] });
    await client.waitFor(({ method }) => method === "thread/started", { after });
    const [, usage] = client.messages.slice(after);
    expect(received(client, after).slice(1)).toEqual(["thread/tokenUsage/updated", "thread/started"]);
    expect(usage?.params).toEqual({
      threadId: fields(thread).id,
      turnId: turnIds[0],
      tokenUsage: { total: tokens(1), last: tokens(1), modelContextWindow: 100 },
    });
  });
});
