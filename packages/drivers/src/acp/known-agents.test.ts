import { readFile } from "node:fs/promises";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ApprovalPolicy, Decision } from "@flint/protocol";
import {
  type FakeStep,
  leavesNoProcess,
  RecordingTurn,
  temporaryFolder,
  writeFakeAgent,
} from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { acpProfile } from "./descriptor.ts";
import { driverOf } from "./testing/acp-fixture.ts";

const COMPLETED = { status: "completed" };
const DENY: Decision = { outcome: "deny", scope: "once" };

/** A message of the protocol. */
const rpc = (message: object) => ({ jsonrpc: "2.0", ...message });
const update = (sessionUpdate: string, fields: object): FakeStep => ({
  send: rpc({ method: "session/update", params: { sessionId: "s", update: { sessionUpdate, ...fields } } }),
});
const message = (text: string): FakeStep =>
  update("agent_message_chunk", { content: { type: "text", text } });
const end = (stopReason = "end_turn"): FakeStep => ({ send: rpc({ id: "$prompt", result: { stopReason } }) });
const ask = (toolCall: object, options: readonly object[]): FakeStep => ({
  send: rpc({ id: 7, method: "session/request_permission", params: { sessionId: "s", toolCall, options } }),
});
const answered = (optionId: string): FakeStep => ({
  expect: { id: 7, result: { outcome: { outcome: "selected", optionId } } },
});

/** The handshake of the agent up to the first prompt; a client that offers another version than 1 gets no answer. */
function handshake(choices: object): readonly FakeStep[] {
  const isOffered = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  return [
    {
      expect: {
        id: "$initialize",
        method: "initialize",
        params: { protocolVersion: 1, clientCapabilities: isOffered },
      },
    },
    {
      send: rpc({
        id: "$initialize",
        result: { protocolVersion: 1, agentCapabilities: { loadSession: true } },
      }),
    },
    { expect: { id: "$new", method: "session/new" } },
    { send: rpc({ id: "$new", result: { sessionId: "s", ...choices } }) },
    { expect: { id: "$prompt", method: "session/prompt" } },
  ];
}

const modes = (...ids: readonly string[]) => ({
  modes: { currentModeId: ids[0], availableModes: ids.map((id) => ({ id, name: id })) },
});

interface TurnOptions {
  readonly approvalPolicy?: ApprovalPolicy;
  readonly decision?: Decision;
}

/** One turn with an agent that behaves like the named one. */
async function turnWith(name: string, steps: readonly FakeStep[], options: TurnOptions = {}) {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const command = await writeFakeAgent(path, [...steps, { hang: true }]);
  const profile = { ...acpProfile(name, []), startMs: 20_000 };
  const driver = driverOf(command, { profile });
  const settings = testSettings("fixture/default", path, {
    sandboxPolicy: { type: "dangerFullAccess" },
    approvalPolicy: options.approvalPolicy ?? "unlessTrusted",
  });
  const session = await driver.open(sessionSpec(settings, new CommandSandbox({ environment: process.env })));
  onTestFinished(() => session.close());
  const { decision } = options;
  const turn = new RecordingTurn({
    text: "go",
    settings,
    ...(decision === undefined ? {} : { decide: () => decision }),
  });
  const outcome = await session.run(turn).finally(() => turn.end());
  const answer = turn.completedItems.flatMap((item) => ("text" in item ? [String(item.text)] : [])).join("");
  return { turn, outcome, answer, path };
}

const RUN = {
  toolCallId: "c",
  title: "touch made",
  kind: "execute",
  status: "pending",
  rawInput: { command: "touch made" },
};

test("gemini: shows a call that only its permission request announces", async () => {
  const options = [
    { optionId: "proceed_always", name: "Allow for this session", kind: "allow_always" },
    { optionId: "proceed_once", name: "Allow", kind: "allow_once" },
    { optionId: "cancel", name: "Reject", kind: "reject_once" },
  ];
  const { turn, outcome } = await turnWith(
    "gemini",
    [
      ...handshake(modes("default", "autoEdit", "yolo", "plan")),
      ask(RUN, options),
      answered("proceed_once"),
      update("tool_call_update", {
        toolCallId: "c",
        status: "completed",
        title: "touch made",
        kind: "execute",
      }),
      end(),
    ],
    { decision: { outcome: "allow", scope: "session" } },
  );
  expect(outcome).toEqual(COMPLETED);
  expect(turn.actions).toMatchObject([{ kind: "command", command: "touch made" }]);
  expect(turn.completedItems).toMatchObject([{ type: "commandExecution", status: "completed" }]);
});

test("opencode: is made to ask, also for a file that it writes through Flint", async () => {
  const config = {
    id: "mode",
    name: "Session Mode",
    category: "mode",
    type: "select",
    currentValue: "build",
  };
  const options = [{ value: "build", name: "build" }];
  const { turn, outcome, answer, path } = await turnWith("opencode", [
    ...handshake({ configOptions: [{ ...config, options }] }),
    {
      send: rpc({
        id: 8,
        method: "fs/write_text_file",
        params: { sessionId: "s", path: "{{cwd}}/w.txt", content: "one\n" },
      }),
    },
    { expect: { id: 8, result: {} } },
    message("{{env.OPENCODE_PERMISSION}}"),
    end(),
  ]);
  expect(outcome).toEqual(COMPLETED);
  expect(JSON.parse(answer)).toMatchObject({ edit: "ask", bash: "ask" });
  expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ kind: "add" }] }]);
  expect(await readFile(`${path}/w.txt`, "utf8")).toBe("one\n");
});

const CHOICES = {
  "claude-agent-acp": [
    { optionId: "allow-once", name: "Allow", kind: "allow_once" },
    { optionId: "reject-once", name: "Reject", kind: "reject_once" },
  ],
  "codex-acp": [
    { optionId: "allow_once", name: "Yes, proceed", kind: "allow_once" },
    { optionId: "reject_once", name: "No", kind: "reject_once" },
  ],
} as const;

describe("a rejection", () => {
  test("lets claude-agent-acp continue, with a declined item", async () => {
    const { turn, outcome, answer } = await turnWith(
      "claude-agent-acp",
      [
        ...handshake(modes("default", "acceptEdits", "plan", "bypassPermissions")),
        update("tool_call", { ...RUN, rawInput: {}, title: "Terminal" }),
        ask(RUN, CHOICES["claude-agent-acp"]),
        answered("reject-once"),
        update("tool_call_update", { toolCallId: "c", status: "failed" }),
        message("Very well."),
        end(),
      ],
      { decision: DENY },
    );
    expect({ outcome, answer }).toEqual({ outcome: COMPLETED, answer: "Very well." });
    expect(turn.completedItems[0]).toMatchObject({ type: "commandExecution", status: "declined" });
  });

  test("completes the turn that codex-acp reports as cancelled", async () => {
    const { turn, outcome } = await turnWith(
      "codex-acp",
      [
        ...handshake(modes("read-only", "workspace-write", "agent", "agent-full-access")),
        update("tool_call", { ...RUN, status: "in_progress" }),
        ask(RUN, CHOICES["codex-acp"]),
        answered("reject_once"),
        end("cancelled"),
      ],
      { decision: DENY },
    );
    expect(outcome).toEqual(COMPLETED);
    expect(turn.completedItems).toMatchObject([{ type: "commandExecution", status: "declined" }]);
  });
});

test.each([
  ["codex-acp", "INITIAL_AGENT_MODE", "unlessTrusted", "read-only"],
  ["codex-acp", "INITIAL_AGENT_MODE", "never", "agent-full-access"],
  ["goose", "GOOSE_MODE", "unlessTrusted", "approve"],
] as const)("%s: sets %s for the approval policy %s", async (name, variable, approvalPolicy, value) => {
  const steps = [
    ...handshake(modes("read-only", "agent-full-access")),
    message(`{{env.${variable}}}`),
    end(),
  ];
  const { outcome, answer } = await turnWith(name, steps, { approvalPolicy });
  expect({ outcome, answer }).toEqual({ outcome: COMPLETED, answer: value });
});

test("codex-acp: has no further instructions without a sandbox", async () => {
  const steps = [...handshake(modes("read-only")), message("{{env.CODEX_CONFIG}}"), end()];
  const { outcome, answer } = await turnWith("codex-acp", steps);
  expect(outcome).toEqual(COMPLETED);
  expect(answer).not.toContain("sandbox_permissions");
});
