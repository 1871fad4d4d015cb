import type { UserQuestion } from "@flint/protocol";
import { settled, type TestEngineOptions, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const QUESTIONS: UserQuestion[] = [
  { id: "colour", question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] },
  { id: "why", question: "And why?" },
];
const ANSWERS = { colour: { answers: ["red"] }, why: { answers: ["because"] } };

/** A turn that waits for its answers. */
async function waiting(options: TestEngineOptions = {}) {
  const server = testEngine({ scripts: [[{ ask: QUESTIONS }, { text: "Thanks." }]], ...options });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  const { request } = (await client.waitFor("question/requested")).data;
  const respond = (answers = ANSWERS) =>
    client.call("question/respond", { threadId, questionId: request.id, answers });
  return { server, client, threadId, turnId, request, respond, record: server.driver.turns[0] };
}

describe("a question of the agent", () => {
  test("is sent completely, and its answers reach the agent", async () => {
    const { client, threadId, turnId, request, respond, record, server } = await waiting();
    expect(request).toMatchObject({
      turnId,
      questions: QUESTIONS,
      expiresAtMs: server.clock.now() + 600_000,
    });
    expect((await client.call("thread/read", { threadId })).thread.status.activeFlags).toEqual([
      "waitingOnUserInput",
    ]);
    await respond();
    await client.turnEnd(turnId);
    expect(record?.answers).toEqual([ANSWERS]);
    expect((await client.waitFor("question/resolved")).data).toEqual({
      threadId,
      turnId,
      questionId: request.id,
      itemId: request.itemId,
      answers: ANSWERS,
      by: "client",
    });
    expect(client.order.indexOf("<- question/respond")).toBeLessThan(
      client.order.indexOf("question/resolved"),
    );
  });

  test("has an empty answer if no one answers in time [S4-23]", async () => {
    const { server, client, turnId, record } = await waiting({ approvalTimeoutMs: 5_000 });
    await server.clock.advance(5_000);
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    expect(record?.answers).toEqual([{}]);
    expect((await client.waitFor("question/resolved")).data).toMatchObject({ answers: {}, by: "timeout" });
  });

  test("ends with its turn", async () => {
    const { client, threadId, turnId, respond } = await waiting();
    await client.call("turn/interrupt", { threadId });
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
    expect((await client.waitFor("question/resolved")).data).toMatchObject({ answers: {}, by: "interrupt" });
    await expect(respond()).rejects.toMatchObject({ kind: "approvalNotFound" });
  });

  test("is answered by the first client that responds", async () => {
    const { client, turnId, respond, record } = await waiting();
    const [first, second] = await Promise.allSettled([
      respond(),
      respond({ ...ANSWERS, why: { answers: [] } }),
    ]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    await client.turnEnd(turnId);
    expect(record?.answers).toEqual([ANSWERS]);
  });

  test("is sent to a client that attaches late, once", async () => {
    const { server, threadId, request } = await waiting();
    const late = server.connect();
    const { questions } = await late.call("thread/attach", { threadId });
    await settled();
    expect(questions).toEqual([request]);
    expect(late.eventsOf("question/requested").map((event) => event.data.request)).toEqual([request]);
  });

  test("fails the turn when its answers cannot be stored, and the agent gets none", async () => {
    const store = new UnreliableStore();
    const { client, turnId, respond, record } = await waiting({ store });
    store.refuses = (bodies) => bodies.some((body) => body.type === "question/resolved");
    await expect(respond()).rejects.toMatchObject({ kind: "storageFailed" });
    store.refuses = () => false;
    expect((await client.turnEnd(turnId)).status).toBe("failed");
    expect(record?.answers).not.toContainEqual(ANSWERS);
  });
});
