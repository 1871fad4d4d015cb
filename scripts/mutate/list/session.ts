import type { Mutation } from "../mutation.ts";

const LIST_TESTS = ["packages/tui/src/app/thread-list.test.ts"];
const WHEEL_TESTS = ["packages/tui/src/app/wheel.test.ts"];
const MACHINE_TESTS = ["packages/tui/src/app/machine-commands.test.ts"];
const OTHER_CLIENT_TESTS = ["packages/tui/src/app/other-clients.test.ts"];

/** Faults in the terminal session, and in what other clients learn of a thread through the server. */
export const SESSION_FAULTS: readonly Mutation[] = [
  {
    name: "queue-change-unnamed",
    promise: "A change of the queue names the client that asked for it.",
    file: "packages/core/src/thread/announcements.ts",
    find: '  "thread/queue/changed",\n',
    replace: "",
    tests: ["packages/core/src/engine/client-names.test.ts"],
  },
  {
    name: "own-queue-change-as-other",
    promise: "What the user queues is not said to be the work of another client.",
    file: "packages/tui/src/session/thread/thread-events.ts",
    find: "return client === undefined || isAddedHere ?",
    replace: "return client === undefined ?",
    tests: OTHER_CLIENT_TESTS,
  },
  {
    name: "tasks-among-own-threads",
    promise: "Threads of tasks are not listed among one's own.",
    file: "packages/host/src/store/listing/thread-list.ts",
    find: "(thread.taskId !== undefined) !== ofTasks",
    replace: "thread.id === ''",
    tests: LIST_TESTS,
    only: "threads of tasks",
  },
  {
    name: "limit-of-older-turn-listed",
    promise: "A thread is not listed at a usage limit once another turn has started.",
    file: "packages/protocol/src/thread/reduce-thread.ts",
    find: "const { lastTurnFailed: _failed, usageLimit: _limit, ...thread } = state.thread;",
    replace: "const { lastTurnFailed: _failed, ...thread } = state.thread;",
    tests: ["packages/protocol/src/thread/reduce-thread.test.ts"],
  },
  {
    name: "wheel-recalls-prompt",
    promise: "On the full screen the wheel changes no prompt.",
    file: "packages/tui/src/session/keys.ts",
    find: 'if (event.type === "key" && isWheel) this.#wheel(event);\n    else if',
    replace: "if",
    tests: WHEEL_TESTS,
  },
  {
    name: "wheel-left-off",
    promise: "The wheel is as it was before once a session has left the terminal.",
    file: "packages/tui/src/app/app.ts",
    find: "    this.#wheel.allow(true);\n",
    replace: "",
    tests: WHEEL_TESTS,
  },
  {
    name: "live-row-left-above",
    promise: "A terminal that becomes narrower shows no live row twice.",
    file: "packages/tui/src/terminal/reflowed-rows.ts",
    find: "isNarrower ? this.#cursor : before",
    replace: "before",
    tests: ["packages/tui/src/terminal/reflowed-rows.test.ts"],
  },
  {
    name: "locked-key-changed",
    promise: "A session does not change a key that the administrator has locked.",
    file: "packages/tui/src/session/commands/machine/config.ts",
    find: "  if (lockedBy !== undefined) return session.say(whyLocked(name, lockedBy));\n",
    replace: "",
    tests: MACHINE_TESTS,
  },
  {
    name: "project-below-user",
    promise: "A trusted project's value is in force before the user's.",
    file: "packages/server/src/config/effective-config.ts",
    find: '    ...here.map(({ name, value, path }) => from("project", path, name, value)),\n',
    replace: "",
    tests: ["packages/server/src/config/effective-config.test.ts"],
  },
  {
    name: "progress-steers-terminal",
    promise: "The progress of a running tool never steers the terminal.",
    file: "packages/tui/src/draw/timeline.ts",
    find: "escapeControls(this.progress)",
    replace: "this.progress",
    tests: ["packages/tui/src/draw/timeline.test.ts"],
  },
  {
    name: "thought-steers-terminal",
    promise: "A thought that is streamed never steers the terminal.",
    file: "packages/tui/src/draw/timeline.ts",
    find: "escapeControls(last)",
    replace: "last",
    tests: ["packages/tui/src/draw/timeline.test.ts"],
  },
  {
    name: "stale-completion-inserted",
    promise: "A completion of an earlier text is never inserted.",
    file: "packages/tui/src/input/completion/completer.ts",
    find: " || !sameTrigger(trigger, this.#listed)",
    replace: "",
    tests: ["packages/tui/src/input/completion/completer.test.ts"],
  },
  {
    name: "mcp-configured-unlisted",
    promise: "MCP servers that are configured are listed before an agent has started them.",
    file: "packages/core/src/handlers/config.ts",
    find: "data: [...reported, ...others.map(({ name }) => ({ name, status }))]",
    replace: "data: [...reported, ...others.slice(0, 0).map(({ name }) => ({ name, status }))]",
    tests: ["packages/core/src/engine/settings.test.ts"],
  },
];
