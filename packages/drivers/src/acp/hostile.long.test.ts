import { CommandSandbox } from "@flint/host/sandbox";
import { describeHostileAgent, type FakeStep } from "@flint/testkit";
import { testSettings } from "../testing/session-spec.ts";
import { driverOf } from "./testing/acp-fixture.ts";

const HANDSHAKE: readonly FakeStep[] = [
  { expect: { id: "$initialize", method: "initialize", params: { protocolVersion: 1 } } },
  { send: { jsonrpc: "2.0", id: "$initialize", result: { protocolVersion: 1, agentCapabilities: {} } } },
  { expect: { id: "$new", method: "session/new" } },
  { send: { jsonrpc: "2.0", id: "$new", result: { sessionId: "s1" } } },
];

const MID_TURN: readonly FakeStep[] = [
  ...HANDSHAKE,
  { expect: { id: "$prompt", method: "session/prompt" } },
  {
    send: {
      jsonrpc: "2.0",
      method: "session/update",
      params: {
        sessionId: "s1",
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Well, " } },
      },
    },
  },
];

const WHOLE_TURN: readonly FakeStep[] = [
  { forget: "prompt" },
  { expect: { id: "$prompt", method: "session/prompt" } },
  { send: { jsonrpc: "2.0", id: "$prompt", result: { stopReason: "end_turn" } } },
];

const LATE_ASK: readonly FakeStep[] = [
  {
    send: {
      jsonrpc: "2.0",
      id: 77,
      method: "session/request_permission",
      params: {
        sessionId: "s1",
        toolCall: { toolCallId: "t", title: "rm -rf /", kind: "execute", rawInput: { command: "rm -rf /" } },
        options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
      },
    },
  },
  { expect: { id: 77, result: { outcome: { outcome: "cancelled" } } } },
];

describeHostileAgent(
  "An agent of the Agent Client Protocol",
  async ({ command, clock, folder }) => ({
    driver: driverOf(command, { clock }),
    settings: testSettings("fixture/default", folder, { sandboxPolicy: { type: "dangerFullAccess" } }),
    sandbox: new CommandSandbox({ environment: process.env }),
  }),
  {
    midTurn: MID_TURN,
    asksLate: { refused: [...HANDSHAKE, ...WHOLE_TURN, ...LATE_ASK], next: WHOLE_TURN },
  },
);
