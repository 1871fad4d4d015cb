import type { ClientTool, ToolCallResult } from "@flint/protocol";
import { Gate, settled, type TestEngineOptions, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const LAMP: ClientTool = {
  name: "lamp",
  description: "Switches a lamp.",
  inputSchema: { type: "object", properties: { room: { type: "string" } } },
};
const LIT: ToolCallResult = { success: true, content: [{ type: "text", text: "It is on." }] };
const CALL = { clientTool: "lamp", namespace: "house", arguments: { room: "hall" } };

/** A turn that waits for a client to run its tool. */
async function waiting(options: TestEngineOptions = {}) {
  const server = testEngine({ scripts: [[CALL, { text: "Thanks." }]], ...options });
  const client = server.connect();
  const threadId = await client.startThread({ tools: [LAMP] });
  const turnId = await client.startTurn(threadId, "go");
  const { request } = (await client.waitFor("tool/requested")).data;
  const respond = (result = LIT) => client.call("tool/respond", { threadId, callId: request.id, result });
  return { server, client, threadId, turnId, request, respond, record: server.driver.turns[0] };
}

describe("a tool that a client provides", () => {
  test("[S2-76] is called with everything the agent passed, and its result reaches the agent", async () => {
    const { client, threadId, turnId, request, respond, record, server } = await waiting();
    const { arguments: given, namespace } = CALL;
    expect(request).toMatchObject({ turnId, tool: "lamp", namespace, arguments: given });
    expect(request.expiresAtMs).toBe(server.clock.now() + 600_000);
    await respond();
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    expect(record?.toolResults).toEqual([LIT]);
    const { id: callId, itemId } = request;
    const resolved = { threadId, turnId, callId, itemId, success: true, by: "client" };
    expect((await client.waitFor("tool/resolved")).data).toEqual(resolved);
    expect(client.order.indexOf("<- tool/respond")).toBeLessThan(client.order.indexOf("tool/resolved"));
  });

  test("reaches the agent of that thread only, and an idle one when the tools change", async () => {
    const says = [{ text: "a" }];
    const { driver, ...server } = bound(testEngine({ scripts: [says, says, says, says] }));
    const client = server.connect();
    const threadId = await client.startThread({ tools: [LAMP] });
    await client.runTurn(threadId, "one");
    await client.runTurn(await client.startThread(), "other");
    await client.call("thread/resume", { threadId, tools: [LAMP] });
    await client.runTurn(threadId, "two");
    await client.call("thread/resume", { threadId, tools: [] });
    await client.runTurn(threadId, "three");
    expect(driver.sessions.map(({ clientTools }) => clientTools)).toEqual([[LAMP], [], []]);
  });

  test("fails when no client runs it in time", async () => {
    const { server, client, turnId, record } = await waiting({ approvalTimeoutMs: 5_000 });
    await server.clock.advance(5_000);
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    const text = "No client ran lamp within 5 s.";
    expect(record?.toolResults).toEqual([{ success: false, content: [{ type: "text", text }] }]);
    expect((await client.waitFor("tool/resolved")).data).toMatchObject({ success: false, by: "timeout" });
  });

  test("fails at once when no client is connected", async () => {
    const [before, after] = [new Gate(), new Gate()];
    const { driver, ...server } = bound(testEngine({ scripts: [[{ wait: before }, CALL, { wait: after }]] }));
    const client = server.connect();
    const threadId = await client.startThread({ tools: [LAMP] });
    await client.startTurn(threadId, "go");
    await before.reached;
    await client.call("thread/unsubscribe", { threadId });
    before.open();
    await after.reached;
    expect(JSON.stringify(driver.turns[0]?.toolResults)).toContain(
      "No connected client provides the tool lamp",
    );
    after.open();
  });

  test("is cancelled with its turn", async () => {
    const { client, threadId, turnId, respond } = await waiting();
    await client.call("turn/interrupt", { threadId });
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
    expect((await client.waitFor("tool/resolved")).data).toMatchObject({ success: false, by: "interrupt" });
    await expect(respond()).rejects.toMatchObject({ kind: "approvalNotFound" });
  });

  test("is completed by the first client that responds", async () => {
    const { client, turnId, respond, record } = await waiting();
    const [first, second] = await Promise.allSettled([respond(), respond({ ...LIT, success: false })]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    await client.turnEnd(turnId);
    expect(record?.toolResults).toEqual([LIT]);
  });

  test("is requested from a client that attaches late, once", async () => {
    const { server, threadId, request } = await waiting();
    const late = server.connect();
    const { toolCalls } = await late.call("thread/attach", { threadId });
    await settled();
    expect(toolCalls).toEqual([request]);
    expect(late.eventsOf("tool/requested").map((event) => event.data.request)).toEqual([request]);
  });

  test("fails the turn when its result cannot be stored", async () => {
    const store = new UnreliableStore();
    const { client, turnId, respond, record } = await waiting({ store });
    store.refuses = (bodies) => bodies.some((body) => body.type === "tool/resolved");
    await expect(respond()).rejects.toMatchObject({ kind: "storageFailed" });
    store.refuses = () => false;
    expect((await client.turnEnd(turnId)).status).toBe("failed");
    expect(record?.toolResults).not.toContainEqual(LIT);
  });
});

/** The methods of an engine, to be destructured. */
function bound(server: ReturnType<typeof testEngine>) {
  return { connect: () => server.connect(), driver: server.driver };
}
