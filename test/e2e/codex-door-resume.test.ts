import { Gate, type Script, type WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  CodexDoorUnderTest,
  fields,
  listOf,
  startThread,
  startTurn,
  told,
  turnEnd,
} from "./codex/codex-door.ts";

const SPENDS: Script = [
  { text: "Hello." },
  { usage: { inputTokens: 5, outputTokens: 2, thinkingTokens: 1 }, modelContextWindow: 100 },
];

/** A thread with as many turns as wanted, each of which uses 8 tokens. */
async function spent(turns: number) {
  const door = await CodexDoorUnderTest.open(onTestFinished, { scripts: () => SPENDS });
  const client = await door.client();
  const threadId = await startThread(client);
  const turnIds: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const turnId = await startTurn(client, threadId, "hi");
    await turnEnd(client, turnId);
    turnIds.push(turnId);
  }
  return { door, client, threadId, turnIds };
}

/** What a client was told of tokens, until it was told of the goal of the thread. */
async function toldTokens(client: WireClient) {
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

describe("whoever resumes a thread", () => {
  test("is told what it used, in all and last, and how much the model can hold", async () => {
    const { door, threadId, turnIds } = await spent(2);
    const late = await door.client();
    await ask(late, "thread/resume", { threadId });
    const tokenUsage = { total: tokens(2), last: tokens(1), modelContextWindow: 100 };
    expect(await toldTokens(late)).toEqual([{ threadId, turnId: turnIds[1], tokenUsage }]);
    expect(told(late)).toEqual(["answer 1", "answer 2", "thread/tokenUsage/updated", "thread/goal/cleared"]);
  });

  test("is told so by a server that was started since, also without the turns", async () => {
    const { door, threadId, turnIds } = await spent(1);
    await door.engine.close();
    const late = await CodexDoorUnderTest.openIn(door.cwd, onTestFinished).client();
    await ask(late, "thread/resume", { threadId, excludeTurns: true });
    const tokenUsage = { total: tokens(1), last: tokens(1), modelContextWindow: 100 };
    expect(await toldTokens(late)).toEqual([{ threadId, turnId: turnIds[0], tokenUsage }]);
  });

  test("is told of no tokens where none were used", async () => {
    const { door, threadId } = await spent(0);
    const late = await door.client();
    await ask(late, "thread/resume", { threadId });
    expect(await toldTokens(late)).toEqual([]);
  });

  test("may have a page of its turns with the answer, and go on from there", async () => {
    const { door, threadId, turnIds } = await spent(3);
    const late = await door.client();
    const idsIn = (data: unknown) => listOf(data).map((turn) => fields(turn).id);
    const wanted = { threadId, excludeTurns: true, initialTurnsPage: { limit: 2 } };
    const resumed = await ask(late, "thread/resume", wanted);
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

  test("sees the turn that runs as it is at this moment, in the page too", async () => {
    const gate = new Gate();
    const scripts: Script[] = [[{ text: "one" }], [{ text: "two" }, { wait: gate }]];
    const door = await CodexDoorUnderTest.open(onTestFinished, { scripts });
    const client = await door.client();
    const threadId = await startThread(client);
    await turnEnd(client, await startTurn(client, threadId, "hi"));
    const turnId = await startTurn(client, threadId, "hi");
    await gate.reached;
    const late = await door.client();
    const wanted = { threadId, initialTurnsPage: { limit: 1, itemsView: "full" } };
    const { initialTurnsPage, thread } = await ask(late, "thread/resume", wanted);
    const running = { id: turnId, status: "inProgress", items: [{}, { type: "agentMessage", text: "two" }] };
    expect(fields(initialTurnsPage).data).toMatchObject([running]);
    expect(fields(thread).turns).toMatchObject([{ status: "completed" }, running]);
    gate.open();
    await turnEnd(late, turnId);
    // The answer said that it is at work; that it is no more is news.
    expect(told(late).filter((word) => word.startsWith("thread/status"))).toEqual([
      "thread/status/changed idle",
    ]);
  });

  test("may name it in every form of a UUID, and is told of it in the usual one", async () => {
    const { door, threadId } = await spent(1);
    const bare = threadId.replaceAll("-", "");
    for (const form of [threadId.toUpperCase(), bare, `urn:uuid:${threadId}`, `{${threadId}}`]) {
      const late = await door.client();
      expect(await ask(late, "thread/resume", { threadId: form })).toMatchObject({
        thread: { id: threadId },
      });
      await turnEnd(late, await startTurn(late, form, "again"));
      expect(await ask(late, "thread/unsubscribe", { threadId: form })).toEqual({ status: "unsubscribed" });
    }
    const client = await door.client();
    const nobody = "0199AAAA-0000-7000-8000-000000000000";
    await expect(client.request("thread/read", { threadId: nobody })).rejects.toThrow(nobody.toLowerCase());
    for (const strange of [`../${bare}`, `${bare}\0`])
      await expect(client.request("thread/read", { threadId: strange })).rejects.toThrow("invalid thread id");
  });

  test("with a fork is told what it used up to where it was cut, before it starts", async () => {
    const { client, threadId, turnIds } = await spent(2);
    const after = client.mark;
    const { thread } = await ask(client, "thread/fork", { threadId, lastTurnId: turnIds[0] });
    await client.waitFor(({ method }) => method === "thread/started", { after });
    const [, usage] = client.messages.slice(after);
    expect(told(client, after).slice(1)).toEqual(["thread/tokenUsage/updated", "thread/started"]);
    expect(usage?.params).toEqual({
      threadId: fields(thread).id,
      turnId: turnIds[0],
      tokenUsage: { total: tokens(1), last: tokens(1), modelContextWindow: 100 },
    });
  });
});
