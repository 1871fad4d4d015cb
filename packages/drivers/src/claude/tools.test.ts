import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lifecycleFaults, needs } from "@flint/testkit";
import { expect } from "vitest";
import { seenScript } from "../testing/visible-script.ts";
import { type ClaudeBench, realClaude, run, turnOf } from "./testing/claude-fixture.ts";

const test = needs("claude");
const MCP_SERVER = new URL("../../../agent/src/mcp/fixtures/library-server.mjs", import.meta.url);
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const call = (name: string, input: object) => ({ call: name, input });
const DONE = [{ text: "Done." }];

test("a question of Claude is put to the user, and the answer reaches the model", async () => {
  const options = [
    { label: "Red", description: "like fire" },
    { label: "Blue", description: "like the sea" },
  ];
  const question = { question: "Which colour?", header: "Colour", multiSelect: false, options };
  const bench = await realClaude({ script: [[call("AskUserQuestion", { questions: [question] })], DONE] });
  const { turn, outcome } = await run(bench, "paint it", { answers: { 1: { answers: ["Blue"] } } });
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.questions).toEqual([[{ id: "1", question: "Which colour?", header: "Colour", options }]]);
  expect(turn.actions).toEqual([]);
  expect(askedModel(bench)).toContain("Blue");
});

test("in plan mode a plan is made first, and leaving the mode has to be allowed", async () => {
  const plan = { plan: "1. Look\\n2. Leap" };
  const bench = await realClaude({
    script: [[call("ExitPlanMode", plan)], DONE],
    settings: { config: { mode: "plan" } },
  });
  const { turn } = await run(bench, "plan it");
  expect(turn.actions).toMatchObject([{ kind: "tool", tool: "ExitPlanMode" }]);
  expect(turn.completedItems[0]).toMatchObject({ type: "toolCall", tool: "ExitPlanMode", arguments: plan });
});

test("Claude's tasks are the plan of the turn, and stay known in the next one", async () => {
  const create = (subject: string) => call("TaskCreate", { subject, description: subject });
  const bench = await realClaude({
    script: [
      [create("Look"), create("Leap")],
      [call("TaskUpdate", { taskId: "1", status: "in_progress" })],
      DONE,
      [call("TaskUpdate", { taskId: "1", status: "completed" })],
      DONE,
    ],
  });
  const { turn, session } = await run(bench, "go");
  const entries = [
    { step: "Look", status: "inProgress" },
    { step: "Leap", status: "pending" },
  ];
  const plans = turn.events.filter((event) => event.type === "turn/plan/updated");
  expect(plans).toHaveLength(3);
  expect(plans.at(-1)).toEqual({ type: "turn/plan/updated", explanation: "", plan: entries });
  const item = turn.completedItems.find(({ type }) => type === "plan");
  expect(item).toMatchObject({ text: "1. Look\n2. Leap", entries });
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  const next = await run(bench, "go on", {}, session);
  const last = next.turn.events.findLast((event) => event.type === "turn/plan/updated");
  expect(last?.plan).toEqual([{ step: "Look", status: "completed" }, entries[1]]);
});

test("what a sub-agent does is shown under the call that made it, and what it used is counted", async () => {
  const task = { description: "sub", prompt: "greet the lamp", subagent_type: "general-purpose" };
  const bench = await realClaude({
    script: [
      { when: "delegate", parts: [call("Task", task)] },
      { when: "greet the lamp", parts: [call("Bash", { command: "touch greeted" })] },
      [{ text: "The lamp is greeted." }, { usage: { inputTokens: 500, outputTokens: 5 } }],
      [{ text: "All is done." }],
    ],
  });
  const { turn, outcome } = await run(bench, "delegate");
  expect(outcome).toEqual({ status: "completed" });
  const [parent] = turn.events.flatMap((event) => (event.type === "item/started" ? [event.item] : []));
  expect(parent).toMatchObject({ type: "toolCall", tool: "Task", title: "sub" });
  const inner = turn.completedItems.find(({ type }) => type === "commandExecution");
  expect(inner).toMatchObject({ command: "touch greeted", _meta: { parentItemId: parent?.id } });
  expect(turn.actions).toMatchObject([{ kind: "command", command: "touch greeted", itemId: inner?.id }]);
  const answers = turn.completedItems.filter(({ type }) => type === "agentMessage");
  expect(answers).toMatchObject([{ text: "All is done." }]);
  const inputs = turn.events.flatMap((event) => (event.type === "usage" ? [event.last.inputTokens] : []));
  expect(Math.max(...inputs)).toBeGreaterThan(500);
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
});

test("the user's MCP servers are there, their calls are asked about and shown as such, and so is what they ask", async () => {
  const bench = await realClaude({ script: [[call("mcp__library__greet", { name: "Ada" })], DONE] });
  const env = {};
  const server = {
    type: "stdio",
    name: "library",
    command: process.execPath,
    args: [await seenScript(MCP_SERVER)],
    env,
  } as const;
  const session = await bench.open({ mcpServers: [server] });
  const { turn } = await run(bench, "greet her", { answers: { word: { answers: ["Hi"] } } }, session);
  const [action] = turn.actions;
  const asked = { server: "library", tool: "greet", arguments: { name: "Ada" } };
  expect(action).toMatchObject({ kind: "tool", ...asked });
  expect(turn.questions).toMatchObject([[{ options: [{ label: "Hello" }, { label: "Hi" }] }]]);
  const item = { type: "mcpToolCall", id: action?.itemId, ...asked, status: "completed" };
  expect(turn.completedItems[0]).toMatchObject(item);
  expect(JSON.stringify(turn.completedItems[0])).toContain("Hi, Ada");
});

test("[S2-76] a tool that a client offers is called there, beside the user's own servers, and nobody is asked", async () => {
  const lamp = { name: "lamp", description: "A lamp.", inputSchema: { type: "object" } };
  const step = call("mcp__client_tools__house__lamp", { room: "hall" });
  const bench = await realClaude({ script: [[step], DONE] });
  const library = {
    type: "stdio",
    name: "library",
    command: process.execPath,
    args: [await seenScript(MCP_SERVER)],
    env: {},
  } as const;
  const clientTools = [lamp, { ...lamp, namespace: "house" }];
  const session = await bench.open({ clientTools, mcpServers: [library] });
  const content = [
    { type: "text" as const, text: "The hall is lit." },
    { type: "image" as const, url: "https://host.example/a.png" },
  ];
  const { turn, outcome } = await run(bench, "light it", { toolResult: { success: true, content } }, session);
  expect(outcome).toEqual({ status: "completed" });
  const [item] = turn.completedItems;
  expect(item).toMatchObject({
    type: "mcpToolCall",
    server: "client_tools",
    tool: "house__lamp",
    status: "completed",
  });
  expect(turn.toolCalls).toEqual([
    { itemId: item?.id, tool: "lamp", namespace: "house", arguments: { room: "hall" } },
  ]);
  expect(turn.actions).toEqual([]);
  expect(askedModel(bench)).toContain("The hall is lit.");
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
});

test("a server of the user that has the name of the client's tools keeps it, and is asked about", async () => {
  const greet = { name: "greet", description: "Greets.", inputSchema: { type: "object" } };
  const bench = await realClaude({ script: [[call("mcp__client_tools__greet", { name: "Ada" })], DONE] });
  const own = {
    type: "stdio",
    name: "client_tools",
    command: process.execPath,
    args: [await seenScript(MCP_SERVER)],
    env: {},
  } as const;
  const session = await bench.open({ clientTools: [greet], mcpServers: [own] });
  const { turn } = await run(bench, "greet her", { answers: { word: { answers: ["Hi"] } } }, session);
  expect(turn.actions).toMatchObject([{ kind: "tool", server: "client_tools", tool: "greet" }]);
  expect(turn.toolCalls).toEqual([]);
});

test("a tool of a client that fails is told to Claude as a failure", async () => {
  const lamp = { name: "lamp", description: "A lamp.", inputSchema: { type: "object" } };
  const bench = await realClaude({ script: [[call("mcp__client_tools__lamp", {})], DONE] });
  const session = await bench.open({ clientTools: [lamp] });
  const toolResult = { success: false, content: [{ type: "text" as const, text: "No current." }] };
  const { turn } = await run(bench, "light it", { toolResult }, session);
  expect(turn.completedItems[0]).toMatchObject({ type: "mcpToolCall", status: "failed" });
  expect(askedModel(bench)).toContain("No current.");
});

test("[S0-95] [S0-96] what a thread chooses reaches the model: effort, thinking, pictures and instructions", async () => {
  const bench = await realClaude({
    script: [DONE, DONE],
    settings: {
      config: { reasoning_effort: "low", max_thinking_tokens: "8000" },
      developerInstructions: "Speak like a sailor.",
    },
  });
  await writeFile(join(bench.workspace, "AGENTS.md"), "Lamps are never blown out.");
  const session = await bench.open();
  const turn = turnOf(bench, "look at this");
  const image = { type: "image", url: `data:image/png;base64,${PIXEL}` } as const;
  Object.assign(turn, { input: [...turn.input, image] });
  expect(await session.run(turn)).toEqual({ status: "completed" });
  const { body } =
    bench.model.requests.findLast(({ body: { tools } }) => Array.isArray(tools) && tools.length > 0) ?? {};
  expect(JSON.stringify(body?.system)).toContain("Speak like a sailor.");
  expect(JSON.stringify(body?.system)).toContain("Lamps are never blown out.");
  expect(JSON.stringify(body?.messages)).toContain(PIXEL);
  expect(JSON.stringify(body?.output_config)).toContain("low");
  const settings = { ...bench.settings, model: "claude/sonnet", config: {} };
  await run(bench, "and now", { settings }, session);
  expect(String(bench.model.latestModel)).toMatch(/sonnet/);
});

test("a conversation is compacted on demand, and goes on", async () => {
  const bench = await realClaude({ script: [DONE, DONE, [{ text: "A lamp was mended." }], DONE] });
  const { session } = await run(bench, "mend the lamp");
  await run(bench, "light it", {}, session);
  const turn = turnOf(bench, "");
  Object.assign(turn, { kind: "compact", input: [] });
  expect(await session.run(turn)).toEqual({ status: "completed" });
  expect(turn.completedItems).toMatchObject([{ type: "contextCompaction" }]);
  expect((await run(bench, "and now", {}, session)).outcome).toEqual({ status: "completed" });
  expect(askedModel(bench)).toContain("A lamp was mended.");
});

function askedModel(bench: ClaudeBench): string {
  return JSON.stringify(bench.model.requests.at(-1)?.body.messages);
}
