import type { Step, WireClient } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import {
  ask,
  asked,
  type CodexServerUnderTest,
  fields,
  listOf,
  openServer,
  received,
  startThread,
  startTurn,
  turnEnd,
} from "./server-under-test.ts";

function networkRule(action: string) {
  return { applyNetworkPolicyAmendment: { network_policy_amendment: { host: "example.org", action } } };
}

const NO = { code: -32601, message: "no" };

describe("an approval", () => {
  const command = { command: "make install", startsFirst: true } as const;

  test("[S2-73] is requested from all subscribers under one id, and the first answer resolves it for all", async () => {
    const server = await openServer({ scripts: [[command, { text: "Done." }]] });
    const [first, second, stranger] = [await server.client(), await server.client(), await server.client()];
    const threadId = await startThread(first);
    await ask(second, "thread/resume", { threadId });
    const turnId = await startTurn(first, threadId, "go");
    const [one, two] = await Promise.all([asked(first), asked(second)]);
    expect([one.id, two.id]).toEqual([0, 0]);
    expect(one.params).toEqual(two.params);
    expect(one.params).toMatchObject({
      command: "/bin/bash -lc 'make install'",
      commandActions: [{ type: "unknown", command: "make install" }],
    });
    second.answer(0, { decision: "accept" });
    for (const client of [first, second]) {
      await client.waitFor(({ params }) => fields(params).requestId === 0);
      await turnEnd(client, turnId);
    }
    expect(received(first).filter((entry) => /status|request|resolved|command/i.test(entry))).toEqual([
      "thread/status/changed active",
      "thread/status/changed active waitingOnApproval",
      "item/started commandExecution",
      "item/commandExecution/requestApproval",
      "serverRequest/resolved",
      "thread/status/changed active",
      "item/completed commandExecution",
      "thread/status/changed idle",
    ]);
    expect(new Set(received(stranger).map((entry) => entry.split(" ")[0]))).toEqual(
      new Set(["answer", "thread/started", "thread/status/changed"]),
    );
  });

  test("is requested from a client that joins late, under the same id", async () => {
    const server = await openServer({ scripts: [[command]] });
    const client = await server.client();
    const threadId = await startThread(client);
    await startTurn(client, threadId, "go");
    await asked(client);
    const late = await server.client();
    const { thread } = await ask(late, "thread/resume", { threadId });
    expect(fields(thread).status).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    const items = listOf(fields(listOf(fields(thread).turns)[0]).items).map((item) => fields(item).type);
    expect(items).toEqual(["userMessage", "commandExecution"]);
    const again = await asked(late);
    expect(again.id).toBe(0);
    late.answer(again.id, { decision: "decline" });
    const { params } = await client.waitForMethod("turn/completed");
    expect(fields(params).turn).toMatchObject({ status: "completed" });
  });

  test.each([
    ["accept", { outcome: "allow", scope: "once" }],
    ["acceptForSession", { outcome: "allow", scope: "session" }],
    ["decline", { outcome: "deny", scope: "once" }],
    [
      { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["rm"] } },
      { outcome: "allow", scope: "once" },
    ],
    [networkRule("allow"), { outcome: "allow", scope: "once" }],
    [networkRule("deny"), { outcome: "deny", scope: "once" }],
    [{ applyNetworkPolicyAmendment: { network_policy_amendment: null } }, { outcome: "deny", scope: "once" }],
    ["maybe", { outcome: "deny", scope: "once" }],
  ])("[S3-72] [S2-73] is decided by %j", async (decision, meaning) => {
    const server = await openServer({ scripts: [[command]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answer((await asked(client)).id, { decision });
    await turnEnd(client, turnId);
    expect(server.driver.turns[0]?.decisions).toEqual([expect.objectContaining(meaning)]);
    const declined = client.messages.find(
      ({ method, params }) =>
        method === "item/completed" && fields(fields(params).item).type === "commandExecution",
    );
    const status = meaning.outcome === "allow" ? "completed" : "declined";
    expect(fields(fields(declined).params).item).toMatchObject({ status });
  });

  test("[S3-72] [S2-73] that is cancelled interrupts the turn and declines the command", async () => {
    const server = await openServer({ scripts: [[command]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answer((await asked(client)).id, { decision: "cancel" });
    const end = await turnEnd(client, turnId);
    expect(fields(end.params).turn).toMatchObject({ status: "interrupted" });
    const completed = client.messages.filter(({ method }) => method === "item/completed").at(-1);
    expect(fields(fields(completed).params).item).toMatchObject({
      type: "commandExecution",
      status: "declined",
    });
  });

  test.each([
    ["accept", "completed", [{ outcome: "allow", scope: "once" }]],
    ["acceptForSession", "completed", [{ outcome: "allow", scope: "session" }]],
    ["decline", "completed", [{ outcome: "deny" }]],
    ["cancel", "interrupted", []],
  ])("[S2-74] of a file change is decided by %j", async (decision, status, decisions) => {
    const change = { path: "a.txt", kind: "add", diff: "+a" } as const;
    const server = await openServer({ scripts: [[{ fileChange: [change] }]] });
    const client = await server.client();
    const turnId = await startTurn(client, await startThread(client), "go");
    const request = await asked(client);
    expect(request.method).toBe("item/fileChange/requestApproval");
    client.answer(request.id, { decision });
    expect((await turnEnd(client, turnId)).params).toMatchObject({ turn: { status } });
    expect(server.driver.turns[0]?.decisions).toMatchObject(decisions);
  });

  test("[S3-72] may accept an offered rule for always", async () => {
    const server = await openServer({ scripts: [[{ command: "npm test", startsFirst: true }]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    const request = await asked(client);
    const words = fields(request.params).proposedExecpolicyAmendment;
    expect(words).toEqual(["npm", "test"]);
    const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: words } };
    expect(fields(request.params).availableDecisions).toContainEqual(amendment);
    client.answer(request.id, { decision: amendment });
    await turnEnd(client, turnId);
    expect(server.driver.turns[0]?.decisions).toMatchObject([{ outcome: "allow", scope: "always" }]);
  });

  test("[S2-74] [S2-77] is requested for file changes and tools too, and so are answers to questions", async () => {
    const changes = [
      { path: "a.txt", kind: "add", diff: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n" },
    ] as const;
    const question = { id: "q", question: "Which?", options: [{ label: "red" }] };
    const tool = { tool: "lookup", arguments: { name: "x" }, startsFirst: true };
    const server = await openServer({
      scripts: [[{ fileChange: changes, startsFirst: true }, tool, { ask: [question] }]],
    });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    const file = await client.waitForMethod("item/fileChange/requestApproval");
    const item = client.messages.find(({ params }) => fields(fields(params).item).type === "fileChange");
    expect(fields(fields(item).params).item).toMatchObject({
      changes: [{ path: "a.txt", kind: { type: "add" }, diff: "one\n" }],
    });
    client.answer(file.id, { decision: "accept" });
    const call = await client.waitForMethod("mcpServer/elicitation/request");
    client.answer(call.id, { action: "accept", content: {}, _meta: { persist: "session" } });
    const input = await client.waitForMethod("item/tool/requestUserInput");
    expect(fields(input.params).questions).toMatchObject([
      { id: "q", isOther: true, options: [{ label: "red" }] },
    ]);
    client.answer(input.id, { answers: { q: { answers: ["red"] } } });
    await turnEnd(client, turnId);
    const [turn] = server.driver.turns;
    expect(turn?.decisions.map(({ outcome, scope }) => `${outcome} ${scope}`)).toEqual([
      "allow once",
      "allow session",
    ]);
    expect(turn?.answers).toEqual([{ q: { answers: ["red"] } }]);
  });

  test.each([
    ["item/commandExecution/requestApproval", "waitingOnApproval", command],
    [
      "item/fileChange/requestApproval",
      "waitingOnApproval",
      { fileChange: [{ path: "a.txt", kind: "add", diff: "" }], startsFirst: true },
    ],
    ["mcpServer/elicitation/request", "waitingOnApproval", { tool: "lookup", startsFirst: true }],
    [
      "item/tool/requestUserInput",
      "waitingOnUserInput",
      { ask: [{ id: "q", question: "Which?", options: [{ label: "red" }] }] },
    ],
  ] satisfies [string, string, Step][])("%s comes after the waiting status", async (method, flag, step) => {
    const server = await openServer({ scripts: [[step]] });
    const client = await server.client();
    const threadId = await startThread(client);
    await startTurn(client, threadId, "go");
    await client.waitForMethod(method);
    const entries = received(client);
    const before = entries.slice(0, entries.indexOf(method));
    expect(before.filter((entry) => entry.includes("waiting"))).toEqual([
      `thread/status/changed active ${flag}`,
    ]);
  });

  const schema = { type: "object", properties: {} };
  const lamp = { type: "function", name: "lamp", description: "A lamp.", inputSchema: schema };
  const house = { type: "namespace", name: "house", description: "The house.", tools: [lamp] };
  const call = { clientTool: "lamp", namespace: "house", arguments: { room: "hall" } };

  test("[S2-76] has a counterpart for tools of a client, which any client of the thread may run", async () => {
    const server = await openServer({ scripts: [[call]] });
    const [client, other] = [await server.client(), await server.client()];
    const own = { ...house, name: "codex_tui" };
    const threadId = await startThread(client, { dynamicTools: [lamp, house, own] });
    await ask(other, "thread/resume", { threadId, excludeTurns: true });
    const turnId = await startTurn(client, threadId, "go");
    const request = await client.waitForMethod("item/tool/call");
    const shown = await other.waitForMethod("item/tool/call");
    const { callId, ...params } = fields(request.params);
    const { arguments: given, namespace } = call;
    expect(params).toEqual({ threadId, turnId, namespace, tool: "lamp", arguments: given });
    // One that does not know the tool leaves it to the others.
    other.answerError(shown.id, { code: -32601, message: "no such tool" });
    const contentItems = [
      { type: "inputText", text: "lit" },
      { type: "inputImage", imageUrl: "https://host.example/a.png" },
      { type: "inputAudio", audioUrl: "https://host.example/a.mp3" },
    ];
    client.answer(request.id, { success: true, contentItems });
    await turnEnd(client, turnId);
    const item = client.messages.find(({ params }) => fields(fields(params).item).type === "dynamicToolCall");
    expect(fields(fields(fields(item).params).item).id).toBe(callId);
    for (const each of [client, other]) {
      const resolved = await each.waitForMethod("serverRequest/resolved");
      expect(resolved.params).toMatchObject({ threadId, requestId: request.id });
    }
    const [session] = server.driver.sessions;
    expect(session?.clientTools.map(({ name, namespace }) => [namespace, name])).toEqual([
      [undefined, "lamp"],
      ["house", "lamp"],
    ]);
    expect(server.driver.turns[0]?.toolResults).toEqual([
      {
        success: true,
        content: [
          { type: "text", text: "lit" },
          { type: "image", url: "https://host.example/a.png" },
          { type: "text", text: "The tool returned something that cannot be shown: inputAudio." },
        ],
      },
    ]);
  });

  test.each([
    ["that the client does not have", (client: WireClient, id: unknown) => client.answerError(id, NO)],
    ["with a malformed answer", (client: WireClient, id: unknown) => client.answer(id, { decision: "no" })],
  ])("[S2-76] [S2-79] a tool call %s has failed", async (_case, answer) => {
    const server = await openServer({ scripts: [[call]] });
    const client = await server.client();
    const threadId = await startThread(client, { dynamicTools: [house] });
    const turnId = await startTurn(client, threadId, "go");
    answer(client, (await client.waitForMethod("item/tool/call")).id);
    await turnEnd(client, turnId);
    expect(server.driver.turns[0]?.toolResults).toMatchObject([{ success: false }]);
  });

  test("[S2-79] is denied when the only client cannot answer", async () => {
    const server = await openServer({ scripts: [[command]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answerError((await asked(client)).id, { code: -32601, message: "no" });
    await turnEnd(client, turnId);
    expect(server.driver.turns[0]?.decisions).toMatchObject([{ outcome: "deny" }]);
  });

  test("is left to other clients by one that cannot answer", async () => {
    const server = await openServer({ scripts: [[command]] });
    const [unable, able] = [await server.client(), await server.client()];
    const threadId = await startThread(unable);
    await ask(able, "thread/resume", { threadId });
    const turnId = await startTurn(unable, threadId, "go");
    const [refused, { id }] = await Promise.all([asked(unable), asked(able)]);
    unable.answerError(refused.id, { code: -32601, message: "no" });
    // What comes after it on the same connection is answered: so the error was read.
    await ask(unable, "thread/loaded/list");
    able.answer(id, { decision: "accept" });
    await turnEnd(able, turnId);
    expect(server.driver.turns[0]?.decisions).toMatchObject([{ outcome: "allow" }]);
  });
});

describe("the approval policy", () => {
  const policyInForce = (server: CodexServerUnderTest) => server.driver.turns.at(-1)?.settings.approvalPolicy;

  test("stays when a client sends back what it was sent", async () => {
    const server = await openServer({ scripts: () => [{ text: "Done." }] });
    const client = await server.client();
    const { thread, approvalPolicy } = await ask(client, "thread/start", { approvalPolicy: "untrusted" });
    const threadId = String(fields(thread).id);
    expect(approvalPolicy).toBe("untrusted");
    await turnEnd(client, await startTurn(client, threadId, "one", { approvalPolicy }));
    expect(policyInForce(server)).toBe("always");
    await ask(client, "thread/settings/update", { threadId, approvalPolicy });
    await ask(client, "thread/resume", { threadId, approvalPolicy });
    const forked = await ask(client, "thread/fork", { threadId, approvalPolicy });
    for (const id of [threadId, String(fields(forked.thread).id)]) {
      await turnEnd(client, await startTurn(client, id, "two"));
      expect(policyInForce(server)).toBe("always");
    }
  });

  test("uses the latest policy a client sent", async () => {
    const server = await openServer({ scripts: () => [{ text: "Done." }] });
    const client = await server.client();
    const threadId = await startThread(client);
    for (const [approvalPolicy, policy] of [
      ["on-request", "unlessTrusted"],
      ["untrusted", "unlessTrusted"],
      ["never", "never"],
    ]) {
      await turnEnd(client, await startTurn(client, threadId, "go", { approvalPolicy }));
      expect(policyInForce(server)).toBe(policy);
    }
  });
});

test("a shell command of the user has the source of the user", async () => {
  const server = await openServer();
  const client = await server.client();
  const threadId = await startThread(client);
  await ask(client, "thread/shellCommand", { threadId, command: "true" });
  const { params } = await client.waitForMethod("item/started");
  expect(fields(params).item).toMatchObject({ type: "commandExecution", source: "userShell" });
  await client.waitForMethod("turn/completed");
});
