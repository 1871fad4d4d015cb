import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import { describeHostileAgent, type FakeStep } from "@flint/testkit";
import { testSettings } from "../testing/session-spec.ts";
import { ClaudeDriver } from "./driver.ts";
import { BEGIN, DONE, message, WELCOME } from "./testing/fake-frames.ts";

const MESSAGE_START = { type: "message_start", message: { id: "m1" } };
const DELTA = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Well, " } };

const TURN: readonly FakeStep[] = [...BEGIN, message("Well."), ...DONE];

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
    settings: testSettings("claude/default", folder, { sandboxPolicy: { type: "dangerFullAccess" } }),
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
