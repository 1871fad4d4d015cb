import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock, McpServerConfig } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { leavesNoProcess, TestClock, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { IDLE_TIMEOUT_MS } from "./connection.ts";
import { McpServers } from "./mcp-servers.ts";
import { fixtureServer, libraryServer } from "./testing/http-server.ts";
import { call, callTool, textOf, toolsOf } from "./testing/mcp-session.ts";

const SANDBOX = new CommandSandbox({ environment: process.env });

async function open(configs: readonly McpServerConfig[], clock?: Clock): Promise<McpServers> {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const servers = new McpServers(configs, { sandbox: SANDBOX, cwd: path, ...(clock && { clock }) });
  onTestFinished(() => servers.close());
  return servers;
}

test("offers a server's tools and emits an item for each call", async () => {
  const clock = new TestClock();
  const servers = await open([fixtureServer("notes")], clock);
  expect(servers.statuses()).toEqual([{ name: "notes", status: "starting" }]);
  const { outcome, events, actions } = await call(servers, "mcp__notes__echo", { text: "hi" });
  const item = {
    type: "mcpToolCall",
    id: "item-1",
    server: "notes",
    tool: "echo",
    arguments: { text: "hi" },
  };
  const result = { content: [{ type: "text", text: "echo: hi" }] };
  expect(events).toEqual([
    { type: "item/started", item: { ...item, status: "inProgress" } },
    { type: "item/completed", item: { ...item, status: "completed", result, durationMs: 0 } },
  ]);
  expect(actions).toEqual([
    { kind: "tool", itemId: "item-1", server: "notes", tool: "echo", arguments: { text: "hi" } },
  ]);
  expect(outcome).toEqual({ result: { status: "done", text: "echo: hi" } });
  expect(servers.statuses()).toEqual([{ name: "notes", status: "ready" }]);
});

test("ignores annotations and instructions of a server", async () => {
  const tools = [...(await toolsOf(await open([fixtureServer("notes")]))).values()];
  expect(tools.filter((tool) => tool.readOnly)).toEqual([]);
  expect(JSON.stringify(tools)).not.toContain("Ignore the user");
  expect(tools[0]).toMatchObject({
    description: "Says it again",
    parameters: { type: "object", properties: { text: { type: "string" } } },
  });
});

test("does not make a call that the user declines", async () => {
  const servers = await open([fixtureServer("notes")]);
  const refused = await call(
    servers,
    "mcp__notes__grows",
    {},
    {
      decide: () => ({ outcome: "deny", scope: "once", message: "Not now." }),
    },
  );
  expect(refused.outcome).toEqual({ result: { status: "declined", text: "Not now." } });
  expect(refused.item).toMatchObject({ status: "failed", error: "Not now." });
  const stopped = await call(
    servers,
    "mcp__notes__grows",
    {},
    {
      decide: () => ({ outcome: "cancel", scope: "once" }),
    },
  );
  expect(stopped.outcome).toEqual({ ended: { status: "interrupted" } });
  const stop = new AbortController();
  const late = await call(
    servers,
    "mcp__notes__grows",
    {},
    {
      signal: stop.signal,
      decide: () => {
        stop.abort();
        return { outcome: "allow", scope: "once" };
      },
    },
  );
  expect(late.outcome).toEqual({ ended: { status: "interrupted" } });
  expect(late.events.map(({ type }) => type)).toEqual(["item/started"]);
  expect((await toolsOf(servers)).has("mcp__notes__grown")).toBe(false);
});

test("reports progress, also just before the response", async () => {
  const { events } = await call(await open([fixtureServer("notes")]), "mcp__notes__slow");
  expect(events.slice(1, -1)).toEqual(
    ["1/3 step 1", "2/3 step 2", "3/3 step 3"].map((message) => ({
      type: "item/mcpToolCall/progress",
      itemId: "item-1",
      message,
    })),
  );
});

test("cancels a call at the server on interrupt", async () => {
  const servers = await open([fixtureServer("notes")]);
  const stop = new AbortController();
  const { outcome, item } = await call(
    servers,
    "mcp__notes__waits",
    {},
    {
      signal: stop.signal,
      watch: ({ type }) => type === "item/mcpToolCall/progress" && stop.abort(),
    },
  );
  expect(outcome).toEqual({ ended: { status: "interrupted" } });
  expect(item).toMatchObject({ status: "failed", error: "The call was cancelled." });
  expect(textOf(await call(servers, "mcp__notes__cancelled"))).toBe('["The call was cancelled."]');
});

test("fails a call without progress after a while", async () => {
  const clock = new TestClock();
  const servers = await open([fixtureServer("notes")], clock);
  const advanced: Promise<void>[] = [];
  const { outcome } = await call(
    servers,
    "mcp__notes__waits",
    {},
    {
      watch: ({ type }) =>
        type === "item/mcpToolCall/progress" && advanced.push(clock.advance(IDLE_TIMEOUT_MS)),
    },
  );
  expect(outcome).toMatchObject({
    result: { status: "failed", text: expect.stringContaining("did not answer within 600 seconds") },
  });
  await Promise.all(advanced);
});

test("lets a call run as long as it reports progress", async () => {
  const clock = new TestClock();
  const servers = await open([fixtureServer("notes")], clock);
  let isOver = false;
  const sleeping = call(servers, "mcp__notes__sleeps").finally(() => {
    isOver = true;
  });
  await call(servers, "mcp__notes__echo");
  await clock.advance(IDLE_TIMEOUT_MS - 1);
  await call(servers, "mcp__notes__wakes");
  await clock.advance(IDLE_TIMEOUT_MS - 1);
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect((await sleeping).item).toMatchObject({ status: "failed" });
});

test("fails a call with the tool's own error", async () => {
  const servers = await open([fixtureServer("notes")]);
  const failing = await call(servers, "mcp__notes__fails");
  expect(failing.outcome).toEqual({ result: { status: "failed", text: "the disk is full" } });
  expect(failing.item).toMatchObject({
    status: "failed",
    error: "the disk is full",
    result: { content: [{ type: "text", text: "the disk is full" }] },
  });
  expect(textOf(await call(servers, "mcp__notes__refuses"))).toBe(
    "The call to the MCP server notes failed: bad input, undefined",
  );
});

test("names images and links of a result, and repairs its text", async () => {
  const { item, ...called } = await call(await open([fixtureServer("notes")]), "mcp__notes__shows");
  expect(item?.result).toEqual({
    content: [
      { type: "text", text: "here \ufffd" },
      { type: "image", mimeType: "image/png", bytes: 3000 },
      { type: "resource_link", uri: "note://one", name: "One" },
      { type: "resource", resource: { uri: "note://two", text: "inside" } },
      { type: "unknown", was: "hologram" },
    ],
    structuredContent: { answer: 42 },
  });
  expect(textOf({ item, ...called })).toBe(
    "here \ufffd\n[image, image/png, about 3000 bytes, not shown]\n[resource note://one (One)]\ninside\n[hologram that cannot be shown]",
  );
});

test("limits a long result for the model and for the log", async () => {
  const called = await call(await open([fixtureServer("notes")]), "mcp__notes__floods", {
    characters: 2_000_000,
  });
  expect(textOf(called).length).toBeLessThan(51_000);
  expect(textOf(called)).toContain("characters left out");
  expect(JSON.stringify(called.item).length).toBeLessThan(300_000);
});

test("shows and sends the same well-formed input, and rejects oversized input", async () => {
  const servers = await open([fixtureServer("notes")]);
  const { actions, outcome } = await call(servers, "mcp__notes__echo", { text: "a\ud800b" });
  expect(actions).toMatchObject([{ arguments: { text: "a\ufffdb" } }]);
  expect(outcome).toMatchObject({ result: { text: "echo: a\ufffdb" } });
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 10_000; level += 1) deep = { deep };
  const refused = await call(servers, "mcp__notes__echo", deep);
  expect(refused).toMatchObject({ outcome: { result: { status: "failed" } }, actions: [], events: [] });
});

test("fails the call of a server that exits, and restarts it with the next turn", async () => {
  const clock = new TestClock();
  const servers = await open([fixtureServer("notes", undefined, { FIXTURE_TOKEN: "sesame-open" })], clock);
  const { outcome, item } = await call(servers, "mcp__notes__crashes");
  const error = "It exited with code 3. Its stderr: up\ntoken is [hidden]\ngiving up";
  expect(outcome).toMatchObject({ result: { status: "failed", text: expect.stringContaining(error) } });
  expect(item).toMatchObject({ status: "failed", error });
  expect(servers.statuses()).toEqual([{ name: "notes", status: "failed", error }]);
  expect(textOf(await call(servers, "mcp__notes__variable", { name: "FIXTURE_TOKEN" }))).toBe("sesame-open");
  const tool = (await toolsOf(servers)).get("mcp__notes__crashes");
  await call(servers, "mcp__notes__crashes");
  expect((await toolsOf(servers)).size).toBe(0);
  if (tool !== undefined) expect(await callTool(tool)).toMatchObject({ item: { status: "failed", error } });
  await clock.advance(30_000);
  expect((await toolsOf(servers)).size).toBeGreaterThan(0);
});

test("lists tools again after they changed", async () => {
  const servers = await open([fixtureServer("notes")]);
  await call(servers, "mcp__notes__grows");
  expect(textOf(await call(servers, "mcp__notes__cancelled"))).toBe("[]");
  expect((await toolsOf(servers)).has("mcp__notes__grown")).toBe(true);
});

test("lists and reads resources after approval", async () => {
  const servers = await open([fixtureServer("notes")]);
  const listed = await call(servers, "list_mcp_resources");
  const rows = [
    { server: "notes", uri: "note://one", name: "One", description: "The first note" },
    { server: "notes", uriTemplate: "note://{name}", name: "Notes" },
  ];
  expect(listed.item).toMatchObject({ server: "notes", status: "completed", result: { resources: rows } });
  expect(textOf(listed)).toBe(rows.map((row) => JSON.stringify(row)).join("\n"));
  const read = await call(servers, "read_mcp_resource", { server: "notes", uri: "note://one" });
  expect(textOf(read)).toBe("contents of note://one\nnote://one [blob, image/png, about 3 bytes, not shown]");
  expect(read.actions).toEqual([
    {
      kind: "tool",
      itemId: "item-1",
      tool: "read_mcp_resource",
      arguments: { server: "notes", uri: "note://one" },
    },
  ]);
  for (const input of [{ server: "other", uri: "x" }, { server: "notes" }]) {
    expect(await call(servers, "read_mcp_resource", input)).toMatchObject({
      outcome: { result: { status: "failed" } },
      actions: [],
    });
  }
});

test("lets a server ask the user during a call", async () => {
  const servers = await open([fixtureServer("notes")]);
  const properties = { count: { type: "integer", minimum: 1 }, sure: { type: "boolean" } };
  const params = {
    message: "How many?",
    requestedSchema: { type: "object", properties, required: ["count"] },
  };
  const { questions, ...called } = await call(
    servers,
    "mcp__notes__asks",
    { params },
    {
      answers: ([first]) =>
        first?.question.includes("at least 1")
          ? { count: { answers: ["3"] } }
          : { count: { answers: ["0"] }, sure: { answers: ["Yes"] } },
    },
  );
  expect(textOf({ questions, ...called })).toBe('{"action":"accept","content":{"sure":true,"count":3}}');
  expect(questions.map((asked) => asked.map(({ id }) => id))).toEqual([["count", "sure"], ["count"]]);
  expect(questions[0]?.[0]?.question).toBe(
    "The MCP server notes asks: How many?\ncount (a whole number from 1)",
  );
  const unanswered = await call(servers, "mcp__notes__asks", { params });
  expect(textOf(unanswered)).toBe('{"action":"cancel"}');
});

test("asks the user to open a required URL and repeats the call", async () => {
  const servers = await open([fixtureServer("notes")]);
  const asked =
    "The MCP server notes asks: Log in\nOpen this address on login.test:\nhttps://login.test/start?a=1";
  const accepted = await call(
    servers,
    "mcp__notes__locked",
    {},
    {
      answers: () => ({ answer: { answers: ["I opened it"] } }),
    },
  );
  expect(accepted.questions).toMatchObject([[{ question: asked }]]);
  expect(textOf(accepted)).toBe("unlocked");
  const declined = await call(
    await open([fixtureServer("notes")]),
    "mcp__notes__locked",
    {},
    {
      answers: () => ({ answer: { answers: ["Decline"] } }),
    },
  );
  expect(textOf(declined)).toContain("log in first");
});

test("declines elicitations outside of calls, and sampling always", async () => {
  const servers = await open([fixtureServer("notes", "uninvited")]);
  const { questions, ...called } = await call(servers, "mcp__notes__uninvited_answer");
  expect(textOf({ questions, ...called })).toBe("decline");
  expect(questions).toEqual([]);
  const params = { messages: [], maxTokens: 1 };
  const sampled = await call(servers, "mcp__notes__asks", { method: "sampling/createMessage", params });
  expect(textOf(sampled)).toContain("Method not found");
});

test("sends the folder of the thread as root", async () => {
  const { path } = await temporaryFolder();
  const servers = new McpServers([fixtureServer("notes")], { sandbox: SANDBOX, cwd: path });
  onTestFinished(() => servers.close());
  const roots = await call(servers, "mcp__notes__asks", { method: "roots/list" });
  expect(JSON.parse(textOf(roots))).toEqual({
    roots: [{ uri: pathToFileURL(path).href, name: basename(path) }],
  });
});

test("has no tools after close, and leaves nothing behind when closed during start", async () => {
  const servers = await open([fixtureServer("notes"), fixtureServer("other", "silent")]);
  const listing = servers.tools(new AbortController().signal);
  await servers.close();
  expect(await listing).toEqual([]);
  expect((await toolsOf(servers)).size).toBe(0);
});

test("does not wait for slow servers after an interrupt", async () => {
  const servers = await open([fixtureServer("notes", "silent")]);
  const stop = new AbortController();
  const listing = servers.tools(stop.signal);
  stop.abort();
  expect(await listing).toEqual([]);
  expect(servers.statuses()).toEqual([{ name: "notes", status: "starting" }]);
});

test("works with the tools, elicitations and resources of a server made with the MCP SDK", async () => {
  const servers = await open([libraryServer("library")]);
  const greeted = await call(
    servers,
    "mcp__library__greet",
    { name: "Ada" },
    { answers: () => ({ word: { answers: ["Hi"] } }) },
  );
  expect(greeted.item).toMatchObject({
    status: "completed",
    result: {
      content: [{ type: "text", text: "Hi, Ada" }],
      structuredContent: { greeting: "Hi, Ada" },
    },
  });
  const refused = await call(servers, "mcp__library__greet", { name: 7 });
  expect(refused.outcome).toMatchObject({ result: { status: "failed" } });
  const motto = await call(servers, "read_mcp_resource", { server: "library", uri: "motto://one" });
  expect(textOf(motto)).toBe("Onwards");
});

test("lists the resources of other servers if one fails", async () => {
  const servers = await open([fixtureServer("notes"), fixtureServer("shy", "hidesResources")]);
  const { item } = await call(servers, "list_mcp_resources");
  expect(item).toMatchObject({
    server: "notes, shy",
    result: { resources: [{ server: "notes" }, { server: "notes" }, { server: "shy", error: "not today" }] },
  });
  const alone = await call(servers, "list_mcp_resources", { server: "shy" });
  expect(alone.item).toMatchObject({ server: "shy", status: "failed", error: "not today" });
});
