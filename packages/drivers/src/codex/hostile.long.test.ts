import { CommandSandbox } from "@flint/host/sandbox";
import { describeHostileAgent, type FakeStep } from "@flint/testkit";
import { CodexDriver } from "./driver.ts";

const THREAD = { id: "thread-1", preview: "", cwd: "/", turns: [] };
const TURN = { id: "turn-1", status: "inProgress", items: [] };
const PLACE = { threadId: THREAD.id, turnId: TURN.id };

const HANDSHAKE: readonly FakeStep[] = [
  { expect: { id: "$initialize", method: "initialize" } },
  { send: { id: "$initialize", result: { userAgent: "flint/0.166.0 (fake)" } } },
  { expect: { id: "$new", method: "thread/start" } },
  { send: { id: "$new", result: { thread: THREAD, model: "m" } } },
];

const BEGIN: readonly FakeStep[] = [
  { expect: { id: "$turn", method: "turn/start" } },
  { send: { id: "$turn", result: { turn: TURN } } },
  { send: { method: "turn/started", params: { threadId: THREAD.id, turn: TURN } } },
];

const MESSAGE = { type: "agentMessage", id: "m", text: "" };

const WHOLE_TURN: readonly FakeStep[] = [
  ...BEGIN,
  {
    send: {
      method: "turn/completed",
      params: { threadId: THREAD.id, turn: { ...TURN, status: "completed" } },
    },
  },
  { forget: "turn" },
];

const LATE_ASK: readonly FakeStep[] = [
  {
    send: {
      ...{ id: 77, method: "item/commandExecution/requestApproval" },
      params: { ...PLACE, itemId: "c", command: "rm -rf /", cwd: "/" },
    },
  },
  { expect: { id: 77, error: { message: "No turn is running in this thread." } } },
];

/** Its limits for answers are kept by the wire itself, in real time; these are long enough for a busy machine. */
const TIMING = { start: 4_000, answer: 4_000, list: 1_000, stop: 500, keepAlive: 50 };

describeHostileAgent(
  "Codex",
  async ({ command, clock, folder }) => {
    const sandbox = new CommandSandbox({ environment: process.env });
    const program = async () => ({ command, environment: {} });
    return {
      driver: new CodexDriver({ program, version: "0.0.0", sandbox }, TIMING, clock),
      settings: {
        ...{ model: "codex/default", cwd: folder, config: {} },
        ...{ approvalPolicy: "always", sandboxPolicy: { type: "dangerFullAccess" } },
      },
      sandbox,
    };
  },
  {
    midTurn: [
      ...HANDSHAKE,
      ...BEGIN,
      { send: { method: "item/started", params: { ...PLACE, item: MESSAGE } } },
      { send: { method: "item/agentMessage/delta", params: { ...PLACE, itemId: "m", delta: "Well, " } } },
    ],
    asksLate: { refused: [...HANDSHAKE, ...WHOLE_TURN, ...LATE_ASK], next: WHOLE_TURN },
  },
);
