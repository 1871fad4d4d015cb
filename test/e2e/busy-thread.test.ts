import { describe, expect, test } from "vitest";
import { asMessage, completedItems, initialize, startServer, startThread } from "./server.ts";

const text = (words: string) => [{ type: "text", text: words }];

describe("a thread while its turn runs", () => {
  test("steers with or queues further input, and continues with the queue afterwards [S2-17]", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire, { approvalPolicy: "never" });
    const first = asMessage(await wire.request("turn/start", { threadId, input: text("run `sleep 1`") }));
    const firstId = asMessage(first.turn).id;
    const queue = async (words: string) => {
      const params = { threadId, input: text(words), delivery: "queue" };
      return asMessage(asMessage(await wire.request("turn/start", params)).queuedInput).id;
    };
    const [later, never] = [await queue("hello from the queue"), await queue("not this")];
    await wire.request("thread/queue/delete", { threadId, queuedInputId: never });
    const listed = asMessage(await wire.request("thread/queue/list", { threadId }));
    expect(listed.queue).toMatchObject([{ id: later }]);
    const steered = await wire.request("turn/steer", {
      threadId,
      expectedTurnId: firstId,
      input: text("hello"),
    });
    expect(steered).toEqual({ turnId: firstId });
    const isSecond = (params: unknown) => asMessage(asMessage(params).turn).id !== firstId;
    await wire.waitFor(({ method, params }) => method === "turn/completed" && isSecond(params));
    const inputs = completedItems(wire.messages, "userMessage").map((item) => item.content);
    expect(inputs).toEqual([text("run `sleep 1`"), text("hello"), text("hello from the queue")]);
  });

  test("asks the user and continues with the answer [S4-22]", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire);
    await wire.request("turn/start", { threadId, input: text("ask me which colour I like") });
    const ask = await wire.waitForMethod("item/tool/requestUserInput");
    const [question] = asMessage(ask.params).questions as { id: string; question: string }[];
    wire.answer(ask.id, { answers: { [question?.id ?? ""]: { answers: ["green"] } } });
    const resolved = await wire.waitForMethod("question/resolved");
    expect(asMessage(resolved.params)).toMatchObject({ by: "client" });
    await wire.waitForMethod("turn/completed");
    const answers = completedItems(wire.messages, "agentMessage").map((item) => String(item.text));
    expect(answers.join("\n")).toContain("green");
  });

  test("reviews changes in a thread of its own and compacts on request [S0-104, S2-15, S2-19..21]", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire, { approvalPolicy: "never" });
    const review = {
      threadId,
      target: { type: "custom", instructions: "Look at notes.txt." },
      delivery: "detached",
    };
    const { reviewThreadId } = asMessage(await wire.request("review/start", review));
    expect(reviewThreadId).not.toBe(threadId);
    const ended = await wire.waitFor(
      ({ method, params }) => method === "turn/completed" && asMessage(params).threadId === reviewThreadId,
    );
    expect(asMessage(asMessage(ended.params).turn).status).toBe("completed");
    expect(completedItems(wire.messages, "enteredReviewMode")).toHaveLength(1);
    expect(completedItems(wire.messages, "exitedReviewMode")).toHaveLength(1);
    await wire.request("thread/compact/start", { threadId });
    await wire.waitFor(
      ({ method, params }) => method === "turn/completed" && asMessage(params).threadId === threadId,
    );
    expect(completedItems(wire.messages, "contextCompaction")).toHaveLength(1);
  });
});
