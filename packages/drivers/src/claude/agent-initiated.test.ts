import { join } from "node:path";
import type { AgentInitiatedWork } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  descendantsOf,
  type FakeStep,
  leavesNoProcess,
  needs,
  RecordingTurn,
  type TestClient,
  temporaryFolder,
  testEngine,
  waitForExit,
  writeFakeAgent,
} from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { ClaudeDriver } from "./driver.ts";
import { realClaude } from "./testing/claude-fixture.ts";
import { AGENT_INITIATED, BEGIN, DONE, message, WELCOME } from "./testing/fake-frames.ts";

const real = needs("claude");

const ENDED = { type: "system", subtype: "task_notification", task_id: "t", summary: "The build is done." };
const TOOL = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "u1", input: { command: "make" } };
const FIRST = [...WELCOME, ...BEGIN, message("It builds."), ...DONE];
const IDLE: FakeStep = { expect: { type: "nothing" } };

real("continues the real Claude when a background command has ended", async () => {
  const input = { command: "sleep 1; echo built", run_in_background: true };
  const script = [[{ call: "Bash", input }], [{ text: "It builds." }], [{ text: "All is well." }]];
  const fixture = await realClaude({ script });
  let onStart: (work: AgentInitiatedWork) => void = () => undefined;
  const started = new Promise<AgentInitiatedWork>((resolve) => {
    onStart = resolve;
  });
  const session = await fixture.open({ startTurn: (work) => onStart(work) });
  const asked = new RecordingTurn({ text: "build it", settings: fixture.settings });
  expect(await session.run(asked).finally(() => asked.end())).toEqual({ status: "completed" });
  const { reason } = await started;
  expect(reason).toMatch(/sleep 1; echo built.*completed/);
  const turn = new RecordingTurn({ text: "", settings: fixture.settings, agentInitiated: reason });
  expect(await session.run(turn).finally(() => turn.end())).toEqual({ status: "completed" });
  expect(turn.completedItems).toMatchObject([{ type: "agentMessage", text: "All is well." }]);
});

test("shows work after a background task as a turn of the thread, with its reason", async () => {
  const script = [...FIRST, { send: ENDED }, ...AGENT_INITIATED, message("All is well."), ...DONE, IDLE];
  const { client, threadId } = await threadOn(script);
  const turn = await client.turnEnd((await agentInitiatedTurn(client)).id);
  expect(turn).toMatchObject({
    status: "completed",
    items: [{ type: "agentMessage", text: "All is well." }],
    _meta: {
      startedBy: "agent",
      reason: "A background task of Claude has ended. The build is done.",
    },
  });
  const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
  expect(turns?.map(({ items }) => items.map(({ type }) => type))).toEqual([
    ["userMessage", "agentMessage"],
    ["agentMessage"],
  ]);
});

test("requests approval as in any other turn, and runs prompts sent meanwhile afterwards", async () => {
  const { client, threadId } = await threadOn([
    ...[...FIRST, ...AGENT_INITIATED],
    { send: { type: "control_request", request_id: "may", request: TOOL } },
    {
      expect: {
        type: "control_response",
        response: { request_id: "may", response: { behavior: "deny", message: "$message" } },
      },
    },
    ...[message("Then not."), ...DONE, ...BEGIN, message("And now you."), ...DONE, IDLE],
  ]);
  const { id } = await agentInitiatedTurn(client);
  const { approval } = (await client.waitFor("approval/requested")).data;
  expect(approval).toMatchObject({ turnId: id, action: { kind: "command", command: "make" } });
  const input = [{ type: "text" as const, text: "and now me" }];
  const queued = await client.call("turn/start", { threadId, input, delivery: "queue" });
  expect(queued).toHaveProperty("queuedInput");
  const decision = { outcome: "deny", scope: "once" } as const;
  await client.call("approval/respond", { threadId, approvalId: approval.id, decision });
  expect((await client.turnEnd(id)).status).toBe("completed");
  const next = await client.waitFor("turn/started", ({ data }) => isThird(data.turn, id));
  expect((await client.turnEnd(next.data.turn.id)).items).toMatchObject([
    { type: "userMessage" },
    { type: "agentMessage", text: "And now you." },
  ]);
});

test("can be interrupted, and the next turn uses the same process", async () => {
  const { client, threadId } = await threadOn([
    ...[...FIRST, ...AGENT_INITIATED, message("Let me see.")],
    { expect: { type: "control_request", request_id: "$stop", request: { subtype: "interrupt" } } },
    { send: { type: "control_response", response: { subtype: "success", request_id: "$stop" } } },
    {
      send: {
        ...{ type: "result", subtype: "error_during_execution", is_error: true },
        terminal_reason: "aborted_streaming",
      },
    },
    ...[...BEGIN, message("Well."), ...DONE, IDLE],
  ]);
  const { id } = await agentInitiatedTurn(client);
  await client.waitFor("item/completed", ({ data }) => data.turnId === id);
  const before = descendantsOf(process.pid).map(({ pid }) => pid);
  await client.call("turn/interrupt", { threadId, turnId: id });
  expect((await client.turnEnd(id)).status).toBe("interrupted");
  expect((await client.runTurn(threadId, "go on")).status).toBe("completed");
  expect(descendantsOf(process.pid).map(({ pid }) => pid)).toEqual(before);
});

test("is interrupted if the thread may start no more turns", async () => {
  const others = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
  const { client, threadId } = await threadOn(
    [
      ...[...FIRST, ...AGENT_INITIATED, message("Let me see.")],
      { expect: { type: "control_request", request_id: "$stop", request: { subtype: "interrupt" } } },
      { exit: 0 },
    ],
    { thread: { turns: 1 } },
  );
  await waitForExit(descendantsOf(process.pid).filter(({ pid }) => !others.has(pid)));
  const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
  expect(turns).toHaveLength(1);
});

test("shares its turn with a prompt that comes before there is a turn for it", async () => {
  const { driver, sandbox, path } = await claudeOn([
    ...[...FIRST, ...AGENT_INITIATED, message("All is well."), ...DONE],
    ...[...BEGIN, message("And now you."), ...DONE, IDLE],
  ]);
  const settings = testSettings("claude/default", path, { sandboxPolicy: { type: "dangerFullAccess" } });
  let onStart: (work: AgentInitiatedWork) => void = () => undefined;
  const started = new Promise<AgentInitiatedWork>((resolve) => {
    onStart = resolve;
  });
  const session = await driver.open(sessionSpec(settings, sandbox, { startTurn: (work) => onStart(work) }));
  onTestFinished(() => session.close());
  const run = async (text: string) => {
    const turn = new RecordingTurn({ text, settings });
    const outcome = await session.run(turn).finally(() => turn.end());
    return { outcome, texts: turn.completedItems.map((item) => Reflect.get(item, "text")) };
  };
  await run("hello");
  const work = await started;
  expect(work).toMatchObject({ reason: "Claude continued without a prompt." });
  expect(work.isWaiting()).toBe(true);
  expect(await run("and now me")).toEqual({
    outcome: { status: "completed" },
    texts: ["All is well.", "And now you."],
  });
  expect(work.isWaiting()).toBe(false);
});

async function claudeOn(script: readonly FakeStep[]) {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const command = await writeFakeAgent(path, script);
  const environment = { CLAUDE_CONFIG_DIR: join(path, "config") };
  const driver = new ClaudeDriver({ program: async () => ({ command, environment }), version: "0.0.0" });
  return { driver, path, sandbox: new CommandSandbox({ environment: process.env }) };
}

/** A thread in which one turn was asked for. */
async function threadOn(script: readonly FakeStep[], budget = {}) {
  const { driver, path, sandbox } = await claudeOn(script);
  const made = testEngine({
    ...{ otherDrivers: [driver], cwd: path, sandbox, budget, approvalPolicy: "always" },
    sandboxPolicy: { type: "dangerFullAccess" },
  });
  const client = made.connect();
  const threadId = await client.startThread({ model: "claude/default" });
  expect((await client.runTurn(threadId, "build it")).status).toBe("completed");
  return { client, threadId };
}

async function agentInitiatedTurn(client: TestClient) {
  const started = await client.waitFor("turn/started", ({ data }) => data.turn._meta !== undefined);
  return started.data.turn;
}

function isThird(
  { id, _meta: meta, items }: { id: string; _meta?: object | undefined; items: object[] },
  second: string,
) {
  return id > second && meta === undefined && items.length === 0;
}
