import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import { describeHostileAgent, type FakeStep } from "@flint/testkit";
import { ClaudeDriver } from "./driver.ts";

const WELCOME: readonly FakeStep[] = [
  { expect: { type: "control_request", request_id: "$hello", request: { subtype: "initialize" } } },
  {
    send: {
      type: "control_response",
      response: { subtype: "success", request_id: "$hello", response: { models: [] } },
    },
  },
];

const BEGIN: readonly FakeStep[] = [
  { expect: { type: "user", uuid: "$prompt" } },
  { send: { type: "system", subtype: "init", session_id: "a-session", tools: [], model: "m" } },
  { send: { type: "user", message: { role: "user", content: "hello" }, uuid: "$prompt", isReplay: true } },
];

const MESSAGE_START = { type: "message_start", message: { id: "m1" } };
const DELTA = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Well, " } };

const TURN: readonly FakeStep[] = [
  ...BEGIN,
  { send: { type: "assistant", message: { id: "m1", content: [{ type: "text", text: "Well." }] } } },
  { send: { type: "result", subtype: "success", is_error: false, result: "Well." } },
  { forget: "prompt" },
];

const LATE = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "late", input: { command: "id" } };

describeHostileAgent(
  "Claude",
  async ({ command, folder, clock }) => ({
    driver: new ClaudeDriver(
      {
        program: async () => ({ command, environment: { CLAUDE_CONFIG_DIR: join(folder, "config") } }),
        version: "0.0.0",
      },
      clock,
      folder,
    ),
    settings: {
      model: "claude/default",
      cwd: folder,
      approvalPolicy: "always",
      sandboxPolicy: { type: "dangerFullAccess" },
      config: {},
    },
    sandbox: new CommandSandbox({ environment: process.env }),
  }),
  {
    midTurn: [
      ...WELCOME,
      ...BEGIN,
      { send: { type: "stream_event", event: MESSAGE_START } },
      { send: { type: "stream_event", event: DELTA } },
    ],
    asksLate: {
      refused: [
        ...WELCOME,
        ...TURN,
        { send: { type: "control_request", request_id: "late", request: LATE } },
        {
          expect: {
            type: "control_response",
            response: { request_id: "late", subtype: "success", response: { behavior: "deny" } },
          },
        },
      ],
      next: TURN,
    },
  },
);
