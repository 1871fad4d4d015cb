import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lifecycleFaults, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { visibleScript } from "../testing/visible-script.ts";
import { type ClaudeFixture, realClaude, run, turnOf } from "./testing/claude-fixture.ts";
import { SharedClaude } from "./testing/shared-claude.ts";

const test = needs("claude");
const MCP_SERVER = new URL("../../../agent/src/mcp/fixtures/library-server.mjs", import.meta.url);
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const call = (name: string, input: object) => ({ call: name, input });
const DONE = [{ text: "Done." }];

describe("in one session", () => {
  const claude = new SharedClaude();

  test("asks the user a question of Claude, and returns the answer to the model", async () => {
    const options = [
      { label: "Red", description: "like fire" },
      { label: "Blue", description: "like the sea" },
    ];
    const question = { question: "Which colour?", header: "Colour", multiSelect: false, options };
    const fixture = await claude.fixture({
      script: [[call("AskUserQuestion", { questions: [question] })], DONE],
    });
    const { turn, outcome } = await run(fixture, "paint it", { answers: { 1: { answers: ["Blue"] } } });
    expect(outcome).toEqual({ status: "completed" });
    expect(turn.questions).toEqual([[{ id: "1", question: "Which colour?", header: "Colour", options }]]);
    expect(turn.actions).toEqual([]);
    expect(askedModel(fixture)).toContain("Blue");
  });

  test("requests approval to leave plan mode", async () => {
    const plan = { plan: "1. Look\\n2. Leap" };
    const fixture = await claude.fixture({
      script: [[call("ExitPlanMode", plan)], DONE],
      settings: { config: { mode: "plan" } },
    });
    const { turn } = await run(fixture, "plan it");
    expect(turn.actions).toMatchObject([{ kind: "tool", tool: "ExitPlanMode" }]);
    expect(turn.completedItems[0]).toMatchObject({ type: "toolCall", tool: "ExitPlanMode", arguments: plan });
  });

  test("shows Claude's tasks as the plan of the turn, and remembers them in the next", async () => {
    const create = (subject: string) => call("TaskCreate", { subject, description: subject });
    const fixture = await claude.fixture({
      script: [
        [create("Look"), create("Leap")],
        [call("TaskUpdate", { taskId: "1", status: "in_progress" })],
        DONE,
        [call("TaskUpdate", { taskId: "1", status: "completed" })],
        DONE,
      ],
    });
    const { turn, session } = await run(fixture, "go");
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
    const next = await run(fixture, "go on", {}, session);
    const last = next.turn.events.findLast((event) => event.type === "turn/plan/updated");
    expect(last?.plan).toEqual([{ step: "Look", status: "completed" }, entries[1]]);
  });

  test("shows the work of a sub-agent below its call, and counts its usage", async () => {
    const task = { description: "sub", prompt: "greet the lamp", subagent_type: "general-purpose" };
    const fixture = await claude.fixture({
      script: [
        { when: "delegate", parts: [call("Task", task)] },
        { when: "greet the lamp", parts: [call("Bash", { command: "touch greeted" })] },
        [{ text: "The lamp is greeted." }, { usage: { inputTokens: 500, outputTokens: 5 } }],
        [{ text: "All is done." }],
      ],
    });
    const { turn, outcome } = await run(fixture, "delegate");
    expect(outcome).toEqual({ status: "completed" });
    const [parent] = turn.events.flatMap((event) => (event.type === "item/started" ? [event.item] : []));
    expect(parent).toMatchObject({ type: "toolCall", tool: "Task", title: "sub" });
    expect(parent).toMatchObject({ subAgent: { prompt: "greet the lamp", kind: "general-purpose" } });
    const inner = turn.completedItems.find(({ type }) => type === "commandExecution");
    expect(inner).toMatchObject({ command: "touch greeted", parentItemId: parent?.id });
    const called = turn.completedItems.find(({ id }) => id === parent?.id);
    expect(called).toMatchObject({ status: "completed", result: "The lamp is greeted." });
    expect(turn.actions).toMatchObject([{ kind: "command", command: "touch greeted", itemId: inner?.id }]);
    const answers = turn.completedItems.filter(({ type }) => type === "agentMessage");
    expect(answers).toMatchObject([{ text: "All is done." }]);
    const inputs = turn.events.flatMap((event) => (event.type === "usage" ? [event.last.inputTokens] : []));
    expect(Math.max(...inputs)).toBeGreaterThan(500);
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
  });

  test("compacts the conversation on request, and continues", async () => {
    const fixture = await claude.fixture({ script: [DONE, DONE, [{ text: "A lamp was repaired." }], DONE] });
    const { session } = await run(fixture, "repair the lamp");
    await run(fixture, "light it", {}, session);
    const turn = turnOf(fixture, "");
    Object.assign(turn, { kind: "compact", input: [] });
    expect(await session.run(turn)).toEqual({ status: "completed" });
    expect(turn.completedItems).toMatchObject([{ type: "contextCompaction" }]);
    expect((await run(fixture, "and now", {}, session)).outcome).toEqual({ status: "completed" });
    expect(askedModel(fixture)).toContain("A lamp was repaired.");
  });
});

describe("with hooks, MCP servers and client-provided tools", () => {
  const hook = (command: string) => [{ matcher: "Bash", hooks: [{ type: "command", command }] }];
  const hooks = { PreToolUse: hook("echo looked"), PostToolUse: hook("echo stay here >&2; exit 2") };
  const lamp = { name: "lamp", description: "A lamp.", inputSchema: { type: "object" } };
  const claude = new SharedClaude({
    prepare: ({ config }) => writeFile(join(config, "settings.json"), JSON.stringify({ hooks })),
    spec: async () => ({
      clientTools: [lamp, { ...lamp, namespace: "house" }],
      mcpServers: [await libraryServer("library")],
    }),
  });

  test("shows the hooks of the user's settings as items", async () => {
    const fixture = await claude.fixture({ script: [[call("Bash", { command: "echo hi" })], DONE] });
    const { turn } = await run(fixture, "go");
    const ran = turn.completedItems.filter(({ type }) => type === "hookRun");
    expect(ran).toMatchObject([
      { event: "PreToolUse", name: "PreToolUse:Bash", status: "completed", output: "looked\n" },
      { event: "PostToolUse", name: "PostToolUse:Bash", status: "blocked", exitCode: 2 },
    ]);
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
  });

  test("connects the user's MCP servers, with approval of their calls and answers to their elicitations", async () => {
    const fixture = await claude.fixture({ script: [[call("mcp__library__greet", { name: "Ada" })], DONE] });
    const { turn } = await run(fixture, "greet her", { answers: { word: { answers: ["Hi"] } } });
    const [action] = turn.actions;
    const asked = { server: "library", tool: "greet", arguments: { name: "Ada" } };
    expect(action).toMatchObject({ kind: "tool", ...asked });
    expect(turn.questions).toMatchObject([[{ options: [{ label: "Hello" }, { label: "Hi" }] }]]);
    const item = { type: "mcpToolCall", id: action?.itemId, ...asked, status: "completed" };
    expect(turn.completedItems[0]).toMatchObject(item);
    expect(JSON.stringify(turn.completedItems[0])).toContain("Hi, Ada");
  });

  test("[S2-76] calls a client-provided tool beside the user's MCP servers, without approval", async () => {
    const step = call("mcp__client_tools__house__lamp", { room: "hall" });
    const fixture = await claude.fixture({ script: [[step], DONE] });
    const content = [
      { type: "text" as const, text: "The hall is lit." },
      { type: "image" as const, url: "https://host.example/a.png" },
    ];
    const { turn, outcome } = await run(fixture, "light it", { toolResult: { success: true, content } });
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
    expect(askedModel(fixture)).toContain("The hall is lit.");
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
  });

  test("returns the failure of a client-provided tool to Claude", async () => {
    const fixture = await claude.fixture({ script: [[call("mcp__client_tools__lamp", {})], DONE] });
    const toolResult = { success: false, content: [{ type: "text" as const, text: "No current." }] };
    const { turn } = await run(fixture, "light it", { toolResult });
    expect(turn.completedItems[0]).toMatchObject({ type: "mcpToolCall", status: "failed" });
    expect(askedModel(fixture)).toContain("No current.");
  });
});

test("prefers a user's MCP server with the name of the client-provided tools, and requests approval", async () => {
  const greet = { name: "greet", description: "Greets.", inputSchema: { type: "object" } };
  const fixture = await realClaude({ script: [[call("mcp__client_tools__greet", { name: "Ada" })], DONE] });
  const own = await libraryServer("client_tools");
  const session = await fixture.open({ clientTools: [greet], mcpServers: [own] });
  const { turn } = await run(fixture, "greet her", { answers: { word: { answers: ["Hi"] } } }, session);
  expect(turn.actions).toMatchObject([{ kind: "tool", server: "client_tools", tool: "greet" }]);
  expect(turn.toolCalls).toEqual([]);
});

test("[S0-95] [S0-96] sends effort, thinking tokens, images and instructions to the model", async () => {
  const fixture = await realClaude({
    script: [DONE, DONE],
    settings: {
      config: { reasoning_effort: "low", max_thinking_tokens: "8000" },
      developerInstructions: "Speak like a sailor.",
    },
  });
  await writeFile(join(fixture.workspace, "AGENTS.md"), "Lamps are never blown out.");
  const session = await fixture.open();
  const turn = turnOf(fixture, "look at this");
  const image = { type: "image", url: `data:image/png;base64,${PIXEL}` } as const;
  Object.assign(turn, { input: [...turn.input, image] });
  expect(await session.run(turn)).toEqual({ status: "completed" });
  const { body } =
    fixture.model.requests.findLast(({ body: { tools } }) => Array.isArray(tools) && tools.length > 0) ?? {};
  expect(JSON.stringify(body?.system)).toContain("Speak like a sailor.");
  expect(JSON.stringify(body?.system)).toContain("Lamps are never blown out.");
  expect(JSON.stringify(body?.messages)).toContain(PIXEL);
  expect(JSON.stringify(body?.output_config)).toContain("low");
  const settings = { ...fixture.settings, model: "claude/sonnet", config: {} };
  await run(fixture, "and now", { settings }, session);
  expect(String(fixture.model.latestModel)).toMatch(/sonnet/);
});

async function libraryServer(name: string) {
  const args = [await visibleScript(MCP_SERVER)];
  return { type: "stdio", name, command: process.execPath, args, env: {} } as const;
}

function askedModel(fixture: ClaudeFixture): string {
  return JSON.stringify(fixture.model.requests.at(-1)?.body.messages);
}
