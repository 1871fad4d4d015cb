import type { DriverSession } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ThreadSettings } from "@flint/protocol";
import {
  type FakeStep,
  leavesNoProcess,
  RecordingTurn,
  TestClock,
  temporaryFolder,
  writeFakeAgent,
} from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { ClaudeFixture } from "./testing/claude-fixture.ts";

const WELCOME: readonly FakeStep[] = [
  { expect: { type: "control_request", request_id: "$initialize", request: { subtype: "initialize" } } },
  {
    send: {
      type: "control_response",
      response: {
        subtype: "success",
        request_id: "$initialize",
        response: {
          models: [
            { value: "default", resolvedModel: "claude-opus-9", supportedEffortLevels: ["low", "max"] },
            { value: "claude-fable-9", displayName: "Fable 9", description: "Tells stories." },
          ],
        },
      },
    },
  },
];
const INIT: FakeStep = {
  send: {
    type: "system",
    subtype: "init",
    session_id: "session-of-claude",
    tools: ["Bash"],
    model: "claude-opus-9",
  },
};
const BEGIN: readonly FakeStep[] = [
  { expect: { type: "user", uuid: "$prompt" } },
  INIT,
  { send: { type: "user", message: { content: "go" }, uuid: "$prompt", isReplay: true } },
];
const message = (text: string): FakeStep => ({
  send: { type: "assistant", message: { id: `message-${text}`, content: [{ type: "text", text }] } },
});
const RESULT: FakeStep = { send: { type: "result", subtype: "success", is_error: false, result: "x" } };
const TURN: readonly FakeStep[] = [...BEGIN, message("Good."), RESULT, { forget: "prompt" }];
const END: readonly FakeStep[] = [{ expect: { never: true } }];

test("[S0-97] lists the models that Claude reports with their details, and offers their efforts", async () => {
  const fixture = await make([...WELCOME, ...TURN, ...END]);
  await run(fixture);
  const models = await fixture.driver.models();
  const ids = ["default", "opus", "sonnet", "haiku", "claude-fable-9"].map((name) => `claude/${name}`);
  expect(models.map(({ id }) => id)).toEqual(ids);
  const meta = { resolvedModel: "claude-opus-9", supportedEffortLevels: ["low", "max"] };
  expect(models[0]).toMatchObject({ isDefault: true, meta });
  const fable = { id: "claude/claude-fable-9", displayName: "Fable 9", description: "Tells stories." };
  expect(models.at(-1)).toEqual({ ...fable, isDefault: false });
  const [effort] = await fixture.driver.options("claude/default", {});
  expect(effort?.options.map(({ id }) => id)).toEqual(["default", "low", "max"]);
});

test("[S0-94] [S0-95] [S0-96] sends the model and the selectors of a thread to Claude, and each change of them", async () => {
  const ok = { subtype: "success", request_id: "$id" };
  const granted = (request: object): FakeStep[] => [
    { expect: { type: "control_request", request_id: "$id", request } },
    { send: { type: "control_response", response: ok } },
    { forget: "id" },
  ];
  const fixture = await make([
    ...WELCOME,
    ...granted({ subtype: "apply_flag_settings", settings: { effortLevel: "low" } }),
    ...granted({ subtype: "set_max_thinking_tokens", max_thinking_tokens: 8000 }),
    ...TURN,
    ...granted({ subtype: "set_model", model: "opus" }),
    ...granted({ subtype: "apply_flag_settings", settings: { effortLevel: null } }),
    ...granted({ subtype: "set_max_thinking_tokens", max_thinking_tokens: null }),
    ...granted({ subtype: "set_permission_mode", mode: "plan" }),
    ...[...TURN, ...END],
  ]);
  const session = await fixture.open();
  const config = { reasoning_effort: "low", max_thinking_tokens: "8000" };
  const first = await run(fixture, session, { model: "claude/haiku", config });
  const second = await run(fixture, session, { model: "claude/opus", config: { mode: "plan" } });
  expect([first.outcome, second.outcome]).toEqual([{ status: "completed" }, { status: "completed" }]);
  expect(await argumentsSeen(fixture)).toEqual([expect.arrayContaining(["--model", "haiku"])]);
});

test("[S0-98] passes _meta on with a prompt, and back with the result of a tool", async () => {
  const fixture = await make([
    ...WELCOME,
    { expect: { type: "user", uuid: "$prompt", _meta: { traceId: "t-1" } } },
    INIT,
    { send: { type: "user", message: { content: "go" }, uuid: "$prompt", isReplay: true } },
    {
      send: {
        type: "assistant",
        message: { content: [{ type: "tool_use", id: "t", name: "Read", input: {} }] },
      },
    },
    {
      send: {
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: "t", content: "one" }] },
        _meta: { cached: true },
      },
    },
    ...[RESULT, ...END],
  ]);
  const turn = turnOf(fixture);
  Object.assign(turn, { input: [{ type: "text", text: "go", _meta: { traceId: "t-1" } }] });
  expect(await (await fixture.open()).run(turn)).toEqual({ status: "completed" });
  expect(turn.completedItems).toMatchObject([{ type: "toolCall", result: "one", _meta: { cached: true } }]);
});

test("[S4-2] [S4-3] [S4-41] [S0-86] ignores malformed lines and stderr output, and passes unknown frames on", async () => {
  const noise: readonly FakeStep[] = [
    { raw: "Warning: something of no interest" },
    { stderr: "and something on stderr\n" },
    { raw: '{"type":"assistant","message":"of another shape"}' },
    { send: { type: "ui_invalidate", what: "everything", _meta: { kept: true } } },
    { send: { type: "system", subtype: "brand_new", value: 1 } },
    { send: { type: "rate_limit_event", rate_limit_info: { status: "allowed_warning" } } },
  ];
  const fixture = await make([...WELCOME, ...BEGIN, ...noise, message("Good."), RESULT, ...END]);
  const { turn, outcome } = await run(fixture);
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.events.filter(({ type }) => type === "extension")).toEqual([
    {
      type: "extension",
      method: "anthropic/ui_invalidate",
      params: { what: "everything", _meta: { kept: true } },
    },
    { type: "extension", method: "anthropic/brand_new", params: { subtype: "brand_new", value: 1 } },
    {
      type: "extension",
      method: "anthropic/rate_limit_event",
      params: { rate_limit_info: { status: "allowed_warning" } },
    },
    { type: "extension", method: "anthropic/badLines", params: { lines: 2 } },
  ]);
  expect(turn.completedItems).toMatchObject([{ type: "agentMessage", text: "Good." }]);
});

test("[S3-51] [S3-52] [S4-28] reports a missing login and hook responses, and shows a compaction as an item", async () => {
  const hook = { hook_name: "PostToolUse:Bash", stdout: "fine", stderr: "", exit_code: 0 };
  const blocking = { hook_name: "PreToolUse:Write", stdout: "", stderr: "Not now.", exit_code: 2 };
  const fixture = await make([
    ...[...WELCOME, ...BEGIN],
    { send: { type: "system", subtype: "hook_response", ...hook } },
    { send: { type: "system", subtype: "hook_response", ...blocking } },
    { send: { type: "system", subtype: "compact_boundary", compact_metadata: { trigger: "auto" } } },
    { send: { type: "system", subtype: "auth_required", content: "Please sign in" } },
    { send: { type: "assistant", error: "authentication_failed", message: { content: "Not logged in" } } },
    { send: { type: "result", subtype: "success", is_error: true, result: "Not logged in" } },
    ...END,
  ]);
  const { turn, outcome } = await run(fixture);
  const error = { errorInfo: "Unauthorized", message: expect.stringContaining("flint acp --login claude") };
  expect(turn.events).toContainEqual({
    ...{ type: "error", willRetry: false },
    error: { ...error, additionalDetails: "Please sign in" },
  });
  const ran = { event: "PostToolUse", name: "PostToolUse:Bash", status: "completed", output: "fine" };
  const blocked = { event: "PreToolUse", name: "PreToolUse:Write", status: "blocked", output: "Not now." };
  expect(turn.completedItems).toMatchObject([
    { type: "hookRun", ...ran, exitCode: 0 },
    { type: "hookRun", ...blocked, exitCode: 2 },
    { type: "contextCompaction" },
  ]);
  expect(outcome).toMatchObject({ status: "failed", error });
});

test("[S3-54] reads a tool result inside an assistant message", async () => {
  const block = (fields: object): FakeStep => ({
    send: { type: "assistant", message: { id: "m", content: [fields] } },
  });
  const fixture = await make([
    ...[...WELCOME, ...BEGIN],
    block({ type: "server_tool_use", id: "s1", name: "WebSearch", input: { query: "lamps" } }),
    block({ type: "web_search_tool_result", tool_use_id: "s1", content: [] }),
    block({ type: "tool_use", id: "t1", name: "Read", input: { file_path: "a" } }),
    block({ type: "tool_result", tool_use_id: "t1", content: "one", is_error: false }),
    ...[RESULT, ...END],
  ]);
  const { turn } = await run(fixture);
  expect(turn.completedItems).toMatchObject([
    { type: "webSearch", query: "lamps" },
    { type: "toolCall", tool: "Read", status: "completed", result: "one" },
  ]);
});

test("reports work that Claude initiated between two turns once, in neither turn", async () => {
  const initiated = [INIT, message("The background task ended."), RESULT];
  const fixture = await make([...WELCOME, ...TURN, ...initiated, ...TURN, ...TURN, ...END]);
  const session = await fixture.open();
  const first = await run(fixture, session);
  await expect.poll(() => fixture.lines.filter((line) => line.includes('"result"')).length).toBe(2);
  const second = await run(fixture, session);
  const third = await run(fixture, session);
  for (const { turn } of [first, second, third]) {
    expect(turn.completedItems).toMatchObject([{ type: "agentMessage", text: "Good." }]);
    expect(turn.late).toEqual([]);
  }
  const reports = [first, second, third].map(({ turn }) =>
    turn.events.filter(({ type }) => type === "extension"),
  );
  const params = { turns: 1, lastText: "x" };
  expect(reports).toEqual([[], [{ type: "extension", method: "anthropic/agentInitiatedTurns", params }], []]);
});

test("runs a turn until steered input is answered, also where that takes a second round", async () => {
  const fixture = await make([
    ...[...WELCOME, ...BEGIN, message("First.")],
    { expect: { type: "user", uuid: "$late" } },
    ...[RESULT, INIT],
    { send: { type: "user", message: { content: "more" }, uuid: "$late", isReplay: true } },
    ...[message("Second."), RESULT, ...END],
  ]);
  const session = await fixture.open();
  const turn = turnOf(fixture);
  const ended = session.run(turn);
  await turn.waitFor((event) => event.type === "item/completed");
  expect(await session.steer?.([{ type: "text", text: "more" }])).toBe(true);
  expect(await ended).toEqual({ status: "completed" });
  expect(turn.completedItems).toMatchObject([{ text: "First." }, { text: "Second." }]);
});

test("[P24] [S4-6] [S4-13] [S4-25] fails the turn with the last output of a process that ended, and resumes its session in the next", async () => {
  const fixture = await make([...[...WELCOME, ...BEGIN], { stderr: "out of oil\n" }, { exit: 7 }]);
  const session = await fixture.open();
  const first = await run(fixture, session);
  const message = expect.stringMatching(/exit code 7.*out of oil/s);
  expect(first.outcome).toEqual({ status: "failed", error: { message, errorInfo: "AgentFailed" } });
  expect(first.turn.events).toContainEqual({ type: "session", nativeId: "session-of-claude" });
  const second = await run(fixture, session);
  expect(second.outcome).toMatchObject({ status: "failed" });
  expect(await argumentsSeen(fixture)).toEqual([
    expect.arrayContaining(["--session-id"]),
    expect.arrayContaining(["--resume", "session-of-claude"]),
  ]);
});

test("[S0-95] resumes the session in another process after a change of the folder or of the sandbox only", async () => {
  const fixture = await make([...WELCOME, { forever: TURN }]);
  const session = await fixture.open();
  const { path: cwd } = await temporaryFolder();
  const sandboxPolicy = { type: "externalSandbox" } as const;
  const processes: number[] = [];
  for (const settings of [{}, {}, { cwd }, { cwd }, { cwd, sandboxPolicy }, { cwd, sandboxPolicy }]) {
    expect((await run(fixture, session, settings)).outcome).toEqual({ status: "completed" });
    processes.push((await argumentsSeen(fixture)).length);
  }
  expect(processes).toEqual([1, 1, 2, 2, 3, 3]);
  const resumed = expect.arrayContaining(["--resume", "session-of-claude"]);
  expect((await argumentsSeen(fixture)).slice(1)).toEqual([resumed, resumed]);
});

test("ends a turn that was interrupted before Claude began it, although Claude then begins", async () => {
  const clock = new TestClock();
  const fixture = await make(
    [
      ...[...WELCOME, { expect: { type: "user" } }],
      { expect: { type: "control_request", request: { subtype: "interrupt" } } },
      ...[INIT, ...END],
    ],
    clock,
  );
  const turn = turnOf(fixture);
  const ended = (await fixture.open()).run(turn).finally(() => turn.end());
  await expect.poll(() => fixture.lines.some((line) => line.startsWith('-> {"type":"user"'))).toBe(true);
  turn.stop();
  await expect.poll(() => fixture.lines.some((line) => line.includes('"subtype":"init"'))).toBe(true);
  await clock.advance(1_000);
  expect(await ended).toEqual({ status: "interrupted" });
});

/** A fixture on a fake Claude that sends its arguments first and then plays the steps. */
async function make(steps: readonly FakeStep[], clock = new TestClock()): Promise<ClaudeFixture> {
  leavesNoProcess();
  const { path: folder } = await temporaryFolder();
  const started: FakeStep = { send: { type: "started", with: "$argv" } };
  const command = await writeFakeAgent(folder, [started, ...steps]);
  const sandbox = new CommandSandbox({ environment: process.env });
  const kit = { folder, command, sandbox, clock, atEnd: onTestFinished };
  return ClaudeFixture.make(kit, { settings: { sandboxPolicy: { type: "dangerFullAccess" } } });
}

async function argumentsSeen(fixture: ClaudeFixture): Promise<unknown[]> {
  const lines = fixture.lines.filter((line) => line.startsWith('<- {"type":"started"'));
  return lines.map((line) => JSON.parse(line.slice(3)).with);
}

function turnOf(fixture: ClaudeFixture, settings: Partial<ThreadSettings> = {}): RecordingTurn {
  return new RecordingTurn({ text: "go", settings: { ...fixture.settings, ...settings } });
}

async function run(fixture: ClaudeFixture, given?: DriverSession, settings: Partial<ThreadSettings> = {}) {
  const session = given ?? (await fixture.open());
  const turn = turnOf(fixture, settings);
  const outcome = await session.run(turn).finally(() => turn.end());
  return { turn, outcome };
}
