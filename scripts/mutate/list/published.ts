import type { Mutation } from "../mutation.ts";

const SUMMARY = "packages/tasks/src/published/event-summary.ts";
const TURN_EVENTS = "packages/tasks/src/published/turn-events.ts";
const TESTS = ["packages/tasks/src/published/turn-events.test.ts"];

/** Faults in what is published about tasks and their sessions. */
export const PUBLISHED_FAULTS: readonly Mutation[] = [
  {
    name: "published-tokens-of-all-calls",
    promise: "task:token_usage has the tokens of the last call.",
    file: SUMMARY,
    find: "thinkingTokens = 0 } = event.data.last;",
    replace: "thinkingTokens = 0 } = event.data.usage;",
    tests: TESTS,
  },
  {
    name: "published-actions-whole",
    promise: "The summary of a command has the types of its actions alone.",
    file: SUMMARY,
    find: "item.commandActions?.map(({ type }) => ({ type }))",
    replace: "item.commandActions",
    tests: TESTS,
  },
  {
    name: "published-command-unbounded",
    promise: "The text of a published command is bounded.",
    file: SUMMARY,
    find: "command: bounded(item.command)",
    replace: "command: item.command",
    tests: TESTS,
  },
  {
    name: "published-reasoning-missing",
    promise: "The summary of a reasoning item has its text.",
    file: SUMMARY,
    find: "return { reasoning: bounded(item.summary ?? item.content) };",
    replace: "return {};",
    tests: TESTS,
  },
  {
    name: "published-steer-after-end",
    promise: "A steer is active until its turn ends.",
    file: TURN_EVENTS,
    find: 'thread_status: "idle", has_active_steer: false };',
    replace: 'thread_status: "idle" };',
    tests: TESTS,
  },
  {
    name: "published-prompt-as-steer",
    promise: "The prompt of a turn is no steer.",
    file: TURN_EVENTS,
    find: "return item.clientId === undefined || !item.clientId.startsWith(id);",
    replace: "return true;",
    tests: TESTS,
  },
  {
    name: "published-heartbeat-after-end",
    promise: "The heartbeats of a turn stop with it.",
    file: "packages/tasks/src/published/run-events.ts",
    find: 'if (event.type === "turn/completed") this.stop();',
    replace: "",
    tests: TESTS,
  },
  {
    name: "agm-sender-ignored",
    promise: "session.messages lists the messages of one sender alone, if one is named.",
    file: "packages/server/src/agm/agm-api.ts",
    find: ".filter((message) => sender == null || message.sender === sender)\n",
    replace: "",
    tests: ["packages/server/src/agm/agm.test.ts"],
    only: "S2-5\\D",
  },
  {
    name: "agm-steer-not-kept",
    promise: "task.steer keeps a message that is not to be sent into a turn, whatever the state of the task.",
    file: "packages/server/src/agm/agm-api.ts",
    find: "live: requested, keep: true };",
    replace: "live: requested, keep: requested };",
    tests: ["packages/server/src/agm/agm.test.ts"],
    only: "S2-71",
  },
];
