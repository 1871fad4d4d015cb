import type { DriverEvent } from "@flint/core/ports";
import type { FileUpdateChange, StoredEvent, TokenUsage } from "@flint/protocol";
import { Gate, type Script, settled, testEngine, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const report = (event: DriverEvent) => ({ emit: event });

/** Plays one turn and returns the client that saw it. */
async function play(...script: Script) {
  const server = testEngine({ scripts: [script], approvalPolicy: "never" });
  const client = server.connect();
  const threadId = await client.startThread();
  const turn = await client.runTurn(threadId, "go");
  const { events } = await client.call("thread/events/list", { threadId });
  // The type is open for logs of newer servers; here it is what we wrote.
  return { client, threadId, turn, place: { threadId, turnId: turn.id }, events: events as StoredEvent[] };
}

describe("the reports of an agent", () => {
  verifies(
    "S0-52, S2-38, S2-39, S2-40, S2-41, S0-48, S0-49, S0-58, S0-65",
    "stream output, patches, reasoning, summaries and plans into their items",
    async () => {
      const { client, turn, place } = await play(
        report({
          type: "item/started",
          item: { type: "commandExecution", id: "c", command: "make", cwd: "/code", status: "inProgress" },
        }),
        report({ type: "item/commandExecution/outputDelta", itemId: "c", delta: "built\n" }),
        report({
          type: "item/started",
          item: { type: "fileChange", id: "f", changes: [], status: "inProgress" },
        }),
        report({ type: "item/fileChange/outputDelta", itemId: "f", delta: "+x" }),
        report({ type: "item/started", item: { type: "reasoning", id: "r" } }),
        report({ type: "item/reasoning/textDelta", itemId: "r", delta: "hm" }),
        report({ type: "item/reasoning/summaryTextDelta", itemId: "r", delta: "thinks" }),
        report({ type: "item/started", item: { type: "plan", id: "p", text: "" } }),
        report({ type: "item/plan/delta", itemId: "p", delta: "1. do" }),
      );
      const pieces = client.events.flatMap((event) => ("delta" in event.data ? [event] : []));
      expect(pieces.map(({ type, data }) => ({ type, data }))).toEqual([
        {
          type: "item/commandExecution/outputDelta",
          data: { ...place, itemId: "c", delta: "built\n", offset: 0 },
        },
        { type: "item/fileChange/outputDelta", data: { ...place, itemId: "f", delta: "+x", offset: 0 } },
        { type: "item/reasoning/textDelta", data: { ...place, itemId: "r", delta: "hm", offset: 0 } },
        {
          type: "item/reasoning/summaryTextDelta",
          data: { ...place, itemId: "r", delta: "thinks", offset: 0 },
        },
        { type: "item/plan/delta", data: { ...place, itemId: "p", delta: "1. do", offset: 0 } },
      ]);
      expect(turn.items.slice(1)).toMatchObject([
        { aggregatedOutput: "built\n" },
        { output: "+x" },
        { content: "hm", summary: "thinks" },
        { text: "1. do" },
      ]);
    },
  );

  verifies(
    "S0-66, S2-34",
    "send a plan completely, with the status of each step and the explanation",
    async () => {
      const plan = [
        { step: "look", status: "completed" },
        { step: "do", status: "inProgress" },
        { step: "check", status: "pending" },
        { step: "dream", status: "failed" },
      ] as const;
      const { client, place } = await play({ plan, explanation: "As asked." });
      const { data } = await client.waitFor("turn/plan/updated");
      expect(data).toEqual({ ...place, explanation: "As asked.", plan });
    },
  );

  verifies(
    "S0-80, S2-43, S2-86",
    "send token usage of the latest call and in total, in disjoint buckets, with the context window",
    async () => {
      const first: TokenUsage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 5 };
      const second: TokenUsage = { inputTokens: 1, outputTokens: 3, thinkingTokens: 4, cacheWriteTokens: 6 };
      const cost = { amount: 0.25, currency: "USD" };
      const { client, place, threadId } = await play(
        { usage: first, modelContextWindow: 4096 },
        { usage: second, cost },
      );
      const sum = {
        inputTokens: 11,
        outputTokens: 5,
        thinkingTokens: 4,
        cacheReadTokens: 5,
        cacheWriteTokens: 6,
      };
      expect(client.eventsOf("thread/tokenUsage/updated").map((event) => event.data)).toEqual([
        { ...place, usage: first, last: first, modelContextWindow: 4096 },
        { ...place, usage: sum, last: second, cost },
      ]);
      const lastUsage = { turnId: place.turnId, usage: second, modelContextWindow: 4096 };
      const totals = { usage: sum, lastUsage, cost };
      expect(await client.call("thread/attach", { threadId })).toMatchObject(totals);
      expect(await client.call("thread/fork", { threadId })).toMatchObject(totals);
    },
  );

  verifies(
    "S2-44, S2-87, S2-88",
    "send errors with their kind, details and whether a retry follows",
    async () => {
      const kinds = [
        "ContextWindowExceeded",
        "UsageLimitExceeded",
        "InternalServerError",
        "Unauthorized",
        "BadRequest",
        "ThreadRollbackFailed",
        "SandboxError",
        "Other",
      ];
      const { client, place, turn } = await play(
        ...kinds.map((errorInfo, at) =>
          report({
            type: "error",
            error: { message: `It is ${errorInfo}.`, errorInfo, additionalDetails: "more" },
            willRetry: at % 2 === 0,
          }),
        ),
      );
      expect(client.eventsOf("error").map((event) => event.data)).toEqual(
        kinds.map((errorInfo, at) => ({
          ...place,
          error: { message: `It is ${errorInfo}.`, errorInfo, additionalDetails: "more" },
          willRetry: at % 2 === 0,
        })),
      );
      expect(turn.status).toBe("completed");
    },
  );

  verifies("S0-86, S0-87, S2-45", "pass on an agent's own notifications and a change of model", async () => {
    const { client, threadId, place, events } = await play(
      report({ type: "extension", method: "anthropic/cache_updated", params: { hits: 3 } }),
      report({ type: "model/rerouted", fromModel: "a", toModel: "b", reason: "busy" }),
      report({ type: "item/mcpToolCall/progress", itemId: "x", message: "half" }),
    );
    expect((await client.waitFor("extension/notified")).data).toEqual({
      threadId,
      method: "anthropic/cache_updated",
      params: { hits: 3 },
    });
    const rerouted = { ...place, fromModel: "a", toModel: "b", reason: "busy" };
    expect((await client.waitFor("model/rerouted")).data).toEqual(rerouted);
    expect((await client.waitFor("item/mcpToolCall/progress")).data).toEqual({
      ...place,
      itemId: "x",
      message: "half",
    });
    expect(events.map((event) => event.type)).not.toContain("extension/notified");
  });

  verifies("S2-46, S2-47", "pass on what an agent warns about, with its reason and details", async () => {
    const { client, place } = await play(
      report({ type: "warning", message: "Old key.", reason: "deprecation", details: "Use the new one." }),
    );
    expect((await client.waitFor("warning")).data).toEqual({
      ...{ ...place, message: "Old key.", reason: "deprecation", details: "Use the new one." },
    });
  });

  verifies("S0-85, S0-88", "pass on items of unknown types and _meta unchanged", async () => {
    const item = {
      type: "x-sculpture",
      id: "s",
      text: "a horse",
      _meta: { deep: [1, { any: "thing" }] },
      angle: 7,
    };
    const { turn, client } = await play(
      report({ type: "item/started", item }),
      report({ type: "item/completed", item }),
    );
    expect(turn.items[1]).toEqual(item);
    expect(client.eventsOf("item/completed")[1]?.data.item).toEqual(item);
  });
});

describe("the diff of a turn", () => {
  const change = (path: string, kind: FileUpdateChange["kind"], diff: string) => ({ path, kind, diff });
  const hunk = "@@ -1 +1 @@\n-a\n+b\n";

  verifies(
    "S2-33, S0-57",
    "is sent again with every change that was applied, and with none that was not",
    async () => {
      const { client, place } = await play(
        { fileChange: [change("/project/a", "modify", hunk)] },
        {
          emit: {
            type: "item/completed",
            item: {
              type: "fileChange",
              id: "no",
              changes: [change("/project/no", "add", hunk)],
              status: "declined",
            },
          },
        },
        { fileChange: [change("/project/b", "add", hunk)] },
      );
      const first = `--- a/project/a\n+++ b/project/a\n${hunk}`;
      expect(client.eventsOf("turn/diff/updated").map((event) => event.data)).toEqual([
        { ...place, diff: first },
        { ...place, diff: `${first}--- /dev/null\n+++ b/project/b\n${hunk}` },
      ]);
    },
  );

  test("of an agent that has its own is sent instead of ours", async () => {
    const { client } = await play(report({ type: "turn/diff/updated", diff: "the agent's own" }), {
      fileChange: [change("/project/a", "modify", hunk)],
    });
    expect(client.eventsOf("turn/diff/updated").map((event) => event.data.diff)).toEqual(["the agent's own"]);
  });
});

describe("streamed text", () => {
  const started = report({ type: "item/started", item: { type: "agentMessage", id: "m", text: "" } });
  const piece = (delta: string) => report({ type: "item/agentMessage/delta", itemId: "m", delta });

  /** A turn that is streaming. */
  async function streaming(...script: Script) {
    const gate = new Gate();
    const server = testEngine({ scripts: [[started, ...script, { wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.startTurn(threadId, "go");
    await gate.reached;
    await settled();
    const stored = async () => {
      const found: string[] = [];
      for await (const event of server.store.read(threadId)) {
        if (event.type === "item/agentMessage/delta") found.push(event.data.delta);
      }
      return found;
    };
    return { server, client, threadId, stored };
  }

  test("is sent within the tick and stored merged within 100 ms", async () => {
    const { server, client, stored } = await streaming(piece("one "), piece("two "), piece("three"));
    const sent = client.eventsOf("item/agentMessage/delta").map((event) => event.data.delta);
    expect(sent).toEqual(["one ", "two ", "three"]);
    await server.clock.advance(99);
    expect(await stored()).toEqual([]);
    await server.clock.advance(1);
    expect(await stored()).toEqual(["one two three"]);
  });

  test("is stored at once when 64 KiB are pending", async () => {
    const half = "x".repeat(33 * 1024);
    const { stored } = await streaming(piece(half), piece(half), piece("rest"));
    expect((await stored()).join("")).toBe(half + half);
  });

  test("is stored before the next stored event", async () => {
    const usage = { usage: { inputTokens: 1, outputTokens: 1 } };
    const { client, threadId, stored } = await streaming(piece("before"), usage);
    expect(await stored()).toEqual(["before"]);
    const { events } = await client.call("thread/events/list", { threadId });
    const names = events.map((event) => event.type);
    expect(names.indexOf("item/agentMessage/delta")).toBeLessThan(names.indexOf("thread/tokenUsage/updated"));
  });

  test("starts again in every turn, even if an agent reuses an item id", async () => {
    const script: Script = [started, piece("hello")];
    const client = testEngine({ scripts: [script, script] }).connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "one");
    await client.runTurn(threadId, "two");
    const pieces = client.eventsOf("item/agentMessage/delta").map((event) => event.data);
    expect(pieces.map(({ offset, delta }) => [offset, delta])).toEqual([
      [0, "hello"],
      [0, "hello"],
    ]);
  });

  test("never splits a character", async () => {
    const [high = "", low = ""] = "😀".split("");
    const { client } = await streaming(piece(`a${high}`), { wait: opened() }, piece(`${low}b`));
    const pieces = client.eventsOf("item/agentMessage/delta").map((event) => event.data);
    expect(pieces.map(({ delta, offset }) => [offset, delta])).toEqual([
      [0, "a"],
      [1, "😀b"],
    ]);
  });

  verifies(
    "P11",
    "completes a very long turn with a very loud command, and caps its output with a note",
    async () => {
      const loud = "loud ".repeat(13_107);
      const chunks = Array.from({ length: 1_600 }, () =>
        report({ type: "item/commandExecution/outputDelta", itemId: "c", delta: loud }),
      );
      const command = { type: "commandExecution", id: "c", command: "yes", cwd: "/code" } as const;
      const { client, turn, events } = await play(
        { deltas: 100_000, size: 10 },
        report({ type: "item/started", item: { ...command, status: "inProgress" } }),
        ...chunks,
        report({ type: "item/completed", item: { ...command, status: "completed", exitCode: 0 } }),
      );
      expect(turn.status).toBe("completed");
      const sent = client.eventsOf("item/agentMessage/delta").map((event) => event.data.delta);
      expect(sent.join("")).toHaveLength(1_000_000);
      const output = client.eventsOf("item/commandExecution/outputDelta").map((event) => event.data.delta);
      expect(Buffer.byteLength(output.join(""))).toBe(1024 * 1024);
      expect(turn.items.at(-1)).toMatchObject({ omittedOutputBytes: 1_600 * loud.length - 1024 * 1024 });
      expect(events.length).toBeLessThan(200);
    },
  );
});

function opened(): Gate {
  const gate = new Gate();
  gate.open();
  return gate;
}
