import type { ReviewTarget } from "@flint/protocol";
import { Gate, type Script, testEngine, UnreliableStore, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const uncommitted: ReviewTarget = { type: "uncommittedChanges" };

async function reviewed(script: Script, target: ReviewTarget = uncommitted) {
  const server = testEngine({ scripts: [script] });
  const client = server.connect();
  const threadId = await client.startThread();
  const { turn, reviewThreadId } = await client.call("review/start", { threadId, target });
  return { server, client, threadId, turn, reviewThreadId };
}

describe("a review", () => {
  verifies(
    "S2-19, S2-21, S0-104",
    "that is inline is a turn of the thread, between entering and exiting review mode",
    async () => {
      const { server, client, threadId, turn, reviewThreadId } = await reviewed([{ text: "One bug." }]);
      expect([turn.kind, reviewThreadId]).toEqual(["review", threadId]);
      expect((await client.turnEnd(turn.id)).items).toMatchObject([
        { type: "enteredReviewMode", review: "the uncommitted changes" },
        { type: "agentMessage", text: "One bug." },
        { type: "exitedReviewMode", review: "One bug." },
      ]);
      expect(server.driver.turns[0]).toMatchObject({ kind: "review", review: uncommitted });
      expect(client.order.slice(2, 4)).toEqual(["<- review/start", "turn/started"]);
    },
  );

  verifies("S2-21", "that is detached runs in a new thread, to which the client is subscribed", async () => {
    const gate = new Gate();
    const server = testEngine({ scripts: [[{ wait: gate }], [{ text: "Fine." }]] });
    const client = server.connect();
    const threadId = await client.startThread({ cwd: "/there" });
    await client.startTurn(threadId, "busy");
    const { turn, reviewThreadId } = await client.call("review/start", {
      threadId,
      target: uncommitted,
      delivery: "detached",
    });
    expect(reviewThreadId).not.toBe(threadId);
    const { data } = await client.waitFor(
      "turn/completed",
      (event) => event.data.threadId === reviewThreadId,
    );
    expect(data.turn).toMatchObject({ id: turn.id, status: "completed", kind: "review" });
    const start = await client.waitFor("thread/started", (event) => event.data.thread.id === reviewThreadId);
    expect(start.data.thread).toMatchObject({ forkedFromId: threadId, cwd: "/there" });
    const own = client.order.slice(client.order.indexOf("<- review/start"));
    expect(own.slice(0, 3)).toEqual(["<- review/start", "thread/started", "turn/started"]);
    gate.open();
    await client.waitFor("turn/completed", (event) => event.data.threadId === threadId);
  });

  verifies("S2-20", "covers uncommitted changes, a branch, a commit or custom instructions", async () => {
    const targets: [ReviewTarget, string, RegExp][] = [
      [uncommitted, "the uncommitted changes", /^Review the uncommitted changes\./],
      [
        { type: "baseBranch", branch: "main" },
        "the changes against main",
        /^Review the changes against main\./,
      ],
      [
        { type: "commit", sha: "abc123", title: "Mend" },
        "commit abc123 (Mend)",
        /^Review commit abc123 \(Mend\)\./,
      ],
      [{ type: "commit", sha: "abc123" }, "commit abc123", /^Review commit abc123\./],
      [{ type: "custom", instructions: "Look for races." }, "Look for races.", /^Look for races\./],
    ];
    for (const [target, title, prompt] of targets) {
      const { server, client, turn } = await reviewed([], target);
      expect((await client.turnEnd(turn.id)).items[0]).toMatchObject({
        type: "enteredReviewMode",
        review: title,
      });
      const record = server.driver.turns[0];
      expect(record?.review).toEqual(target);
      expect(String(Reflect.get(record?.input[0] ?? {}, "text"))).toMatch(prompt);
    }
  });

  test("is exited with the text so far when it is interrupted", async () => {
    const gate = new Gate();
    const { client, threadId, turn } = await reviewed([{ text: "So far" }, { wait: gate }]);
    await gate.reached;
    await client.call("turn/interrupt", { threadId });
    const ended = await client.turnEnd(turn.id);
    expect(ended.status).toBe("interrupted");
    expect(ended.items.at(-1)).toMatchObject({ type: "exitedReviewMode", review: "So far" });
  });

  test("that is inline is rejected while a turn is running", async () => {
    const gate = new Gate();
    const { client, threadId } = await reviewed([{ wait: gate }]);
    await expect(client.call("review/start", { threadId, target: uncommitted })).rejects.toMatchObject({
      kind: "turnInProgress",
    });
  });

  test("that is detached and cannot be stored leaves no thread behind", async () => {
    const store = new UnreliableStore();
    const client = testEngine({ store }).connect();
    const threadId = await client.startThread();
    store.refuses = (bodies) => bodies.some((body) => body.type === "turn/started");
    const call = client.call("review/start", { threadId, target: uncommitted, delivery: "detached" });
    await expect(call).rejects.toMatchObject({ kind: "storageFailed" });
    expect((await client.call("thread/list", {})).data).toHaveLength(1);
  });
});
