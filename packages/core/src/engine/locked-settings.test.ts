import type { Budget, ParamsInput } from "@flint/protocol";
import { BareDriver, Gate, settled, type TestClient, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import type { SettingsLocks } from "../settings/settings-locks.ts";

const SOURCE = "/etc/flint/config.toml";

/** An agent whose turns make this many model calls of 100 tokens. */
function caller(calls: number): BareDriver {
  return new BareDriver({
    async run(turn) {
      for (let call = 0; call < calls; call += 1) {
        await turn.ready();
        if (turn.signal.aborted) break;
        turn.emit({ type: "usage", last: { inputTokens: 100, outputTokens: 0 } });
      }
      await turn.ready();
      return { status: turn.signal.aborted ? "interrupted" : "completed" };
    },
  });
}

describe("a locked limit", () => {
  async function turnWithin(locked: Budget, budget: Budget) {
    const server = testEngine({ driver: caller(5), budget, locks: { source: SOURCE, budget: locked } });
    const client = server.connect();
    const threadId = await client.startThread();
    return { client, threadId, turnId: await client.startTurn(threadId, "go") };
  }

  test.each(["turn", "thread"] as const)("of a %s ends it without a question", async (scope) => {
    const limits = { [scope]: { tokens: 200 } };
    const { client, turnId } = await turnWithin(limits, limits);
    const { status, error } = await client.turnEnd(turnId);
    expect(status).toBe("failed");
    expect(error?.message).toMatch(
      `and was stopped: the administrator of this machine locked budget.${scope}.tokens (${SOURCE}).`,
    );
    expect(client.eventsOf("question/requested")).toEqual([]);
  });

  test("can be approached by an answer, and not passed", async () => {
    const { client, threadId, turnId } = await turnWithin(
      { turn: { tokens: 300 } },
      { turn: { tokens: 200 } },
    );
    const { request } = (await client.waitFor("question/requested")).data;
    expect(request.questions[0]?.options?.[0]?.description).toBe("Allows the same again: 100 tokens.");
    const answers = { budget: { answers: ["Continue"] } };
    await client.call("question/respond", { threadId, questionId: request.id, answers });
    expect((await client.turnEnd(turnId)).error?.message).toContain("limit of 300 tokens (300 tokens used)");
    expect(client.eventsOf("question/requested")).toHaveLength(1);
  });

  test("is not extended by a client that says so", async () => {
    const budget = { thread: { tokens: 200 } };
    const server = testEngine({ budget, locks: { source: SOURCE, budget } });
    const client = server.connect();
    const threadId = await client.startThread();
    const change = { threadId, budget: { extended: { tokens: 1_000_000 } } };
    const { settings } = await client.call("thread/settings/update", change);
    expect(settings.budget).toEqual(budget);
  });
});

describe("a thread from before a lock", () => {
  const locks: SettingsLocks = { source: SOURCE, sandboxPolicy: { type: "workspaceWrite" } };

  /** A thread with full access on a server that does not allow it any more. */
  async function earlierThread(fill?: (client: TestClient, threadId: string) => Promise<void>) {
    const store = new UnreliableStore();
    const before = testEngine({ store, scripts: [[{ wait: new Gate() }]] });
    const first = before.connect();
    const threadId = await first.startThread({ sandbox: { type: "dangerFullAccess" } });
    await fill?.(first, threadId);
    await before.close();
    const server = testEngine({ store, locks });
    const client = server.connect();
    await client.call("thread/attach", { threadId });
    return { server, client, threadId };
  }

  const input: ParamsInput<"turn/start">["input"] = [{ type: "text", text: "go" }];

  test.each<[string, (client: TestClient, threadId: string) => Promise<unknown>]>([
    ["a turn", (client, threadId) => client.call("turn/start", { threadId, input })],
    [
      "the user's command",
      (client, threadId) => client.call("thread/shellCommand", { threadId, command: "ls" }),
    ],
    ["compaction", (client, threadId) => client.call("thread/compact/start", { threadId })],
    [
      "a review",
      (client, threadId) => client.call("review/start", { threadId, target: { type: "uncommittedChanges" } }),
    ],
    [
      "a review in a thread of its own",
      (client, threadId) =>
        client.call("review/start", {
          ...{ threadId, delivery: "detached", target: { type: "uncommittedChanges" } },
        }),
    ],
  ])("does not start %s with what is locked now", async (_name, start) => {
    const { server, client, threadId } = await earlierThread();
    await expect(start(client, threadId)).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining(`sandbox: dangerFullAccess is not allowed`),
    });
    await settled();
    expect(server.driver.turns).toEqual([]);
    expect(server.sandbox.launches).toEqual([]);
  });

  test("keeps queued input in the queue", async () => {
    const { client, threadId } = await earlierThread(async (first, thread) => {
      await first.startTurn(thread, "one");
      await first.call("turn/start", { threadId: thread, input, delivery: "queue" });
    });
    const { queue } = await client.call("thread/queue/list", { threadId });
    const queuedInputId = queue[0]?.id ?? "";
    const promoted = client.call("thread/queue/promote", { threadId, queuedInputId });
    await expect(promoted).rejects.toThrow(SOURCE);
    expect((await client.call("thread/queue/list", { threadId })).queue).toHaveLength(1);
  });

  test("continues once its settings keep to the lock", async () => {
    const { client, threadId } = await earlierThread();
    await client.call("thread/settings/update", { threadId, sandbox: { type: "workspaceWrite" } });
    expect((await client.runTurn(threadId, "go")).status).toBe("completed");
  });
});
