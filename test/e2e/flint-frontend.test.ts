import { readFile, stat } from "node:fs/promises";
import { WireError } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import {
  asMessage,
  completedItems,
  initialize,
  paramsOf,
  runTurn,
  startServer,
  startThread,
} from "./server.ts";

describe("the Flint front end over stdio", () => {
  test("one turn goes through in the documented order, without the jsonrpc field [S0-1, S0-6..11, S0-17..19, S0-22, S0-23, S0-28, S0-34, S0-39..43, S0-46, S0-50, S0-52, S0-91, P06]", async () => {
    const { wire, workspace } = await startServer();
    const info = await initialize(wire);
    expect(info).toMatchObject({
      agentInfo: { name: "flint", version: expect.any(String), provider: "flint" },
      capabilities: { streaming: true, configOptions: true, reasoning: false, plans: true, review: true },
    });
    const started = asMessage(await wire.request("thread/start", { cwd: workspace }));
    expect(started).toMatchObject({
      modelProvider: "flint",
      thread: { preview: "", modelProvider: "flint" },
    });
    const threadId = String(asMessage(started.thread).id);
    expect(asMessage(started.thread).createdAt).toBeCloseTo(Date.now() / 1000, -2);
    const messages = await runTurn(wire, threadId, "what is in this folder?");
    const order = [...new Set(wire.messages.map(({ method, id }) => method ?? `answer ${id}`))];
    expect(order.slice(0, 6)).toEqual([
      "answer 1",
      "answer 2",
      "thread/started",
      "answer 3",
      "turn/started",
      "item/started",
    ]);
    expect(order.at(-1)).toBe("turn/completed");
    expect(wire.lines.every((line) => !line.includes('"jsonrpc"'))).toBe(true);
    expect(wire.lines.length).toBe(wire.messages.length);
    const [command] = completedItems(messages, "commandExecution");
    expect(command).toMatchObject({ status: "completed", exitCode: 0, cwd: workspace });
    expect(command).toMatchObject({ command: expect.any(String), durationMs: expect.any(Number) });
    expect(command?.aggregatedOutput).toContain("notes.txt");
    const streamed = messages.filter(({ method }) => method === "item/agentMessage/delta");
    const text = streamed.map(({ params }) => asMessage(params).delta).join("");
    expect(completedItems(messages, "agentMessage").map((item) => item.text)).toContain(text);
    const turn = asMessage(paramsOf(messages, "turn/completed").turn);
    expect(turn).toMatchObject({ status: "completed", itemsView: "full" });
    expect(turn.items).toEqual(
      messages
        .filter(({ method }) => method === "item/completed")
        .map(({ params }) => asMessage(params).item),
    );
  });

  test("requests out of order or unknown are rejected with code, message and reason [S0-13, S0-14, S0-81..83, P04]", async () => {
    const { wire } = await startServer();
    const refused = async (method: string, params: object) => {
      const error: unknown = await wire.request(method, params).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof WireError)) throw new Error(`${method} was not refused`);
      return { code: error.code, reason: asMessage(error.data).reason };
    };
    expect(await refused("model/list", {})).toEqual({ code: -32000, reason: "notInitialized" });
    await initialize(wire);
    const again = { clientInfo: { name: "e2e", version: "1" } };
    expect(await refused("initialize", again)).toEqual({ code: -32600, reason: "alreadyInitialized" });
    expect(await refused("no/such", {})).toEqual({ code: -32601, reason: "methodNotFound" });
    expect(await refused("thread/start", { cwd: 5 })).toEqual({ code: -32602, reason: "invalidParams" });
    const unknown = { threadId: "0190a000-0000-7000-8000-000000000000" };
    expect(await refused("thread/resume", unknown)).toEqual({ code: -32001, reason: "threadNotFound" });
    const threadId = await startThread(wire);
    expect(await refused("turn/interrupt", { threadId })).toEqual({ code: -32003, reason: "notRunning" });
    await wire.request("turn/start", {
      threadId,
      approvalPolicy: "never",
      input: [{ type: "text", text: "run `sleep 30`" }],
    });
    await wire.waitFor(
      ({ method, params }) =>
        method === "item/started" && asMessage(asMessage(params).item).type === "commandExecution",
    );
    const busy = await refused("turn/start", { threadId, input: [{ type: "text", text: "hi" }] });
    expect(busy).toEqual({ code: -32002, reason: "turnInProgress" });
    await wire.request("turn/interrupt", { threadId });
    const ended = await wire.waitForMethod("turn/completed");
    expect(asMessage(asMessage(ended.params).turn).status).toBe("interrupted");
    await wire.sendRaw("this is not json\n");
    const parse = await wire.waitFor((message) => message.id === null);
    expect(asMessage(parse.error)).toMatchObject({ code: -32700, data: { reason: "parseError" } });
  });

  test("a command that needs approval runs only when accepted [S0-2, S0-11, S0-51, S0-53, S0-54, P14]", async () => {
    const { wire, workspace } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire, { cwd: workspace });
    const decide = async (text: string, decision: string) => {
      const from = wire.mark;
      await wire.request("turn/start", { threadId, input: [{ type: "text", text }] });
      const ask = await wire.waitForMethod("item/commandExecution/requestApproval", { after: from });
      wire.answer(ask.id, { decision });
      await wire.waitForMethod("turn/completed", { after: from });
      return { ask: asMessage(ask.params), messages: wire.messages.slice(from) };
    };
    const declined = await decide("run `touch refused.txt`", "decline");
    expect(declined.ask).toMatchObject({ command: "touch refused.txt", cwd: workspace, threadId });
    expect(completedItems(declined.messages, "commandExecution")).toMatchObject([{ status: "declined" }]);
    await expect(stat(`${workspace}/refused.txt`)).rejects.toThrow("ENOENT");
    const accepted = await decide("run `touch allowed.txt`", "accept");
    expect(completedItems(accepted.messages, "commandExecution")).toMatchObject([
      { status: "completed", exitCode: 0 },
    ]);
    expect((await stat(`${workspace}/allowed.txt`)).isFile()).toBe(true);
    const lifecycle = ["item/started", "item/commandExecution/requestApproval", "item/completed"];
    const order = accepted.messages
      .filter(({ params }) => JSON.stringify(params ?? null).includes(String(accepted.ask.itemId)))
      .flatMap(({ method }) => (lifecycle.includes(String(method)) ? [method] : []));
    expect(order).toEqual(lifecycle);
  });

  test("a file change has its diff, needs approval, and is made when accepted [S0-3, S0-55..60]", async () => {
    const { wire, workspace } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire, { cwd: workspace });
    const from = wire.mark;
    await wire.request("turn/start", {
      threadId,
      input: [{ type: "text", text: "write `hello` to greeting.txt" }],
    });
    const ask = await wire.waitForMethod("item/fileChange/requestApproval", { after: from });
    const changes = [
      { path: `${workspace}/greeting.txt`, kind: "add", diff: expect.stringContaining("+hello") },
    ];
    expect(asMessage(ask.params)).toMatchObject({ changes });
    wire.answer(ask.id, { decision: "acceptForSession" });
    await wire.waitForMethod("turn/completed", { after: from });
    const messages = wire.messages.slice(from);
    expect(completedItems(messages, "fileChange")).toMatchObject([{ status: "completed", changes }]);
    expect(await readFile(`${workspace}/greeting.txt`, "utf8")).toContain("hello");
    expect(String(paramsOf(messages, "turn/diff/updated").diff)).toContain("+hello");
  });

  test("the history survives kill -9 and is replayed in order on resume [S0-20, S0-24, S0-25]", async () => {
    const server = await startServer();
    await initialize(server.wire);
    const threadId = await startThread(server.wire, { cwd: server.workspace });
    const before = await runTurn(server.wire, threadId, "what is in this folder?");
    const wire = await server.restart();
    await initialize(wire);
    const resumed = asMessage(await wire.request("thread/resume", { threadId }));
    expect(resumed).toMatchObject({
      thread: { id: threadId, preview: "what is in this folder?" },
      truncated: false,
    });
    await wire.waitForMethod("turn/completed");
    const started = wire.messages.findIndex(({ method }) => method === "thread/started");
    const replayed = wire.messages.slice(started + 1);
    expect(completedItems(replayed, "commandExecution")).toEqual(completedItems(before, "commandExecution"));
    expect(completedItems(replayed, "agentMessage")).toEqual(completedItems(before, "agentMessage"));
    const again = await runTurn(wire, threadId, "what is in this folder?");
    expect(asMessage(paramsOf(again, "turn/completed").turn).status).toBe("completed");
  });

  test("models and selectors are listed, set and read back, for a thread and for new ones [S0-4, S0-12, S0-33, S0-69..74, S0-77..79, S0-92, S2-26]", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const models = asMessage(await wire.request("model/list", { limit: 5 }));
    expect(models.data).toMatchObject([
      { id: "flint/offline", displayName: expect.any(String), isDefault: true },
    ]);
    const list = asMessage(await wire.request("config/list"));
    expect(list.options).toMatchObject([
      {
        type: "select",
        id: "temperature",
        options: [{ id: "0.0" }, { id: "0.3" }, { id: "0.7" }, { id: "1.0" }],
      },
      { type: "select", id: "context_length", options: [{ id: "4096" }, { id: "8192" }, { id: "16384" }] },
    ]);
    const set = asMessage(await wire.request("config/set", { id: "temperature", value: "0.7" }));
    expect(set.options).toMatchObject([{ id: "temperature", value: "0.7" }, { id: "context_length" }]);
    const threadId = await startThread(wire);
    await runTurn(wire, threadId, "hello", { config: { context_length: "16384" } });
    const read = asMessage(await wire.request("config/read", { threadId }));
    expect(read).toMatchObject({
      model: "flint/offline",
      approvalPolicy: "unlessTrusted",
      sandboxPolicy: { type: "workspaceWrite" },
      options: [
        { id: "temperature", value: "0.7" },
        { id: "context_length", value: "16384" },
      ],
      sandbox: { available: true },
    });
    await expect(wire.request("config/set", { id: "temperature", value: "9" })).rejects.toThrow(
      /0\.0, 0\.3, 0\.7, 1\.0/,
    );
  });

  test("reasoning, plans and token usage are sent [S0-47..49, S0-63..66, S0-80]", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire);
    const thinking = await runTurn(wire, threadId, "think about the weather");
    const reasoning = completedItems(thinking, "reasoning");
    expect(reasoning).toHaveLength(1);
    expect(thinking.some(({ method }) => String(method).startsWith("item/reasoning/"))).toBe(true);
    const planned = await runTurn(wire, threadId, "plan: look around, then report");
    expect(completedItems(planned, "plan")).toHaveLength(1);
    const { plan } = paramsOf(planned, "turn/plan/updated");
    expect(plan).toMatchObject([{ step: expect.any(String), status: "inProgress" }]);
    const { usage, last } = paramsOf(planned, "thread/tokenUsage/updated");
    expect(usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    expect(last).toMatchObject({ outputTokens: expect.any(Number) });
  });

  test("threads are listed in pages, searched, archived, named and deleted [S0-26, S0-27, S2-7, S2-11..13]", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const ids: string[] = [];
    for (const text of ["alpha", "beta", "gamma"]) {
      const threadId = await startThread(wire);
      await runTurn(wire, threadId, text);
      ids.push(threadId);
    }
    const list = async (params: object) => asMessage(await wire.request("thread/list", params));
    const idsOf = (page: ReturnType<typeof asMessage>) => (page.data as { id: string }[]).map(({ id }) => id);
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.nextCursor });
    expect([...idsOf(first), ...idsOf(second)].sort()).toEqual([...ids].sort());
    expect(second.nextCursor).toBeUndefined();
    expect(idsOf(await list({ searchTerm: "BETA" }))).toEqual([ids[1]]);
    await wire.request("thread/archive", { threadId: ids[0] });
    expect(idsOf(await list({}))).not.toContain(ids[0]);
    expect(idsOf(await list({ archived: true }))).toEqual([ids[0]]);
    await wire.request("thread/unarchive", { threadId: ids[0] });
    await wire.request("thread/name/set", { threadId: ids[0], name: "The first" });
    expect((await list({ searchTerm: "first" })).data).toMatchObject([{ id: ids[0], name: "The first" }]);
    await wire.request("thread/delete", { threadId: ids[0] });
    expect(idsOf(await list({})).sort()).toEqual([ids[1], ids[2]].sort());
    await expect(wire.request("thread/read", { threadId: ids[0] })).rejects.toMatchObject({ code: -32001 });
  });

  test("command/exec runs in the sandbox; account and MCP servers can be read [S2-22, S2-28, S2-30]", async () => {
    const { wire, workspace } = await startServer();
    await initialize(wire);
    const ran = await wire.request("command/exec", {
      command: ["sh", "-c", "echo out; echo err >&2; exit 3"],
    });
    expect(ran).toMatchObject({ exitCode: 3, stdout: "out\n", stderr: "err\n", timedOut: false });
    const outside = asMessage(await wire.request("command/exec", { command: ["touch", "/etc/flint-test"] }));
    expect(outside.exitCode).not.toBe(0);
    await wire.request("command/exec", { command: ["touch", "inside.txt"], cwd: workspace });
    expect((await stat(`${workspace}/inside.txt`)).isFile()).toBe(true);
    expect(await wire.request("account/read")).toMatchObject({ requiresLogin: false, provider: "flint" });
    expect(await wire.request("mcpServerStatus/list")).toEqual({ data: [] });
  });

  test("every request that was piped in is answered before the process ends [S1-38]", async () => {
    const { wire } = await startServer();
    const info = { id: 1, method: "initialize", params: { clientInfo: { name: "pipe", version: "1" } } };
    const slow = { id: 2, method: "command/exec", params: { command: ["sh", "-c", "sleep 0.5; echo late"] } };
    await wire.sendRaw(`${JSON.stringify(info)}\n${JSON.stringify(slow)}\n`);
    wire.end();
    expect(await wire.exited).toEqual({ code: 0, signal: null });
    expect(wire.messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(wire.messages[1]?.result).toMatchObject({ exitCode: 0, stdout: "late\n" });
  });

  test("the end of input stops the server cleanly, with the running turn recorded [P19]", async () => {
    const server = await startServer();
    await initialize(server.wire);
    const threadId = await startThread(server.wire);
    await server.wire.request("turn/start", {
      threadId,
      approvalPolicy: "never",
      input: [{ type: "text", text: "run `sleep 60`" }],
    });
    await server.wire.waitFor(
      ({ method, params }) =>
        method === "item/started" && asMessage(asMessage(params).item).type === "commandExecution",
    );
    server.wire.end();
    expect(await server.wire.exited).toEqual({ code: 0, signal: null });
    const wire = await server.restart();
    await initialize(wire);
    const read = asMessage(await wire.request("thread/read", { threadId, includeTurns: true }));
    expect(read.turns).toMatchObject([{ status: "interrupted" }]);
  });
});

describe("the capabilities of a client", () => {
  test("keep notifications away that it does not want, but no requests", async () => {
    const { wire } = await startServer();
    const capabilities = {
      optOutNotificationMethods: ["item/agentMessage/delta", "thread/tokenUsage/updated"],
    };
    await wire.request("initialize", { clientInfo: { name: "quiet", version: "1" }, capabilities });
    const messages = await runTurn(wire, await startThread(wire), "say hello");
    const methods = new Set(messages.map(({ method }) => method));
    expect(methods).toContain("item/completed");
    expect(methods).not.toContain("item/agentMessage/delta");
    expect(methods).not.toContain("thread/tokenUsage/updated");
  });

  test("decide about experimental methods", async () => {
    const { wire } = await startServer();
    await initialize(wire);
    const threadId = await startThread(wire);
    const messages = [{ role: "user", text: "The lamp is green." }];
    await expect(wire.request("thread/inject", { threadId, messages })).rejects.toThrow(
      /thread\/inject is experimental: initialize with capabilities/,
    );
    const { wire: other } = await startServer();
    const capabilities = { experimentalApi: true };
    await other.request("initialize", { clientInfo: { name: "bold", version: "1" }, capabilities });
    const added = await other.request("thread/inject", { threadId: await startThread(other), messages });
    expect(added).toMatchObject({ turn: { kind: "injected", status: "completed" } });
  });
});
