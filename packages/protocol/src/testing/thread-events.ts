import type { EventBody } from "../events.ts";
import type { Item } from "../items.ts";
import { reduceThread } from "../thread/reduce-thread.ts";
import type { Thread, ThreadSettings, Turn } from "../thread/thread.ts";
import { emptyThread, type ThreadState } from "../thread/thread-state.ts";

/** A thread without turns. */
export const thread: Thread = {
  id: "t1",
  preview: "",
  modelProvider: "flint",
  model: "flint/offline",
  cwd: "/repo",
  createdAt: 1_700_000_000,
  updatedAt: 1_700_000_000,
  archived: false,
  ephemeral: false,
  status: { type: "idle" },
};
/** Its settings. */
export const settings: ThreadSettings = {
  model: "flint/offline",
  cwd: "/repo",
  approvalPolicy: "unlessTrusted",
  sandboxPolicy: { type: "workspaceWrite" },
  config: {},
};
/** Its first turn, when it starts. */
export const turn: Turn = { id: "u1", status: "inProgress", items: [], itemsView: "full" };
/** The ids that events of that turn carry. */
export const ofTurn = { threadId: "t1", turnId: "u1" };
/** The prompt of that turn. */
export const question: Item<"userMessage"> = {
  type: "userMessage",
  id: "i1",
  content: [{ type: "text", text: "Run the\ntests" }],
};
/** A command that runs in that turn. */
export const command: Item<"commandExecution"> = {
  type: "commandExecution",
  id: "i2",
  command: "npm test",
  cwd: "/repo",
  status: "inProgress",
};
const action = { kind: "command", itemId: "i2", command: "npm test", cwd: "/repo" } as const;
/** The approval of that command. */
export const approval = {
  id: "a1",
  turnId: "u1",
  action,
  project: "/",
  agent: "flint",
  requestedAtMs: 1,
  expiresAtMs: 2,
};
/** A question of the agent. */
export const request = {
  id: "q1",
  turnId: "u1",
  itemId: "i2",
  questions: [],
  requestedAtMs: 1,
  expiresAtMs: 2,
};
/** The events that start the thread and its turn. */
export const STARTED: EventBody[] = [
  { type: "thread/started", data: { thread, settings } },
  { type: "turn/started", data: { threadId: "t1", turn } },
];

/** The state after these events, the first of which has the next seq; each is a second later than the one before. */
export function after(bodies: readonly EventBody[], state: ThreadState = emptyThread("t1")): ThreadState {
  const at = (seq: number) => 1_700_000_000_000 + seq * 1000;
  return bodies.reduce((current, body) => {
    const seq = current.seq + 1;
    return reduceThread(current, { ...body, seq, at: at(seq) });
  }, state);
}
