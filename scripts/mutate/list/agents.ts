import type { Mutation } from "../mutation.ts";

const RESULT = "packages/drivers/src/claude/translate/result.ts";
const RESULT_TESTS = ["packages/drivers/src/claude/translate/result.test.ts"];
const STREAMED_TESTS = ["packages/drivers/src/claude/translate/streamed-file.test.ts"];
const SETTINGS_TESTS = ["packages/core/src/engine/settings.test.ts"];

/** Faults in what clients choose for an agent, and in what they see of it. */
export const AGENT_FAULTS: readonly Mutation[] = [
  {
    name: "codex-summary-dropped",
    promise: "The summary that a client asks for reaches Codex.",
    file: "packages/drivers/src/codex/settings.ts",
    find: 'summary: settings.summary ?? "auto",',
    replace: 'summary: "auto",',
    tests: ["packages/drivers/src/codex/wire.test.ts"],
  },
  {
    name: "personality-dropped",
    promise: "The personality that a Codex client asks for reaches the agent.",
    file: "packages/frontends/src/codex/requests/settings.ts",
    find: "...withoutNullish({ cwd, model, summary, personality }),",
    replace: "...withoutNullish({ cwd, model, summary }),",
    tests: ["packages/frontends/src/codex/requests/requested-options.test.ts"],
  },
  {
    name: "ignored-setting-unsaid",
    promise: "An agent without a setting that a client sends is named.",
    file: "packages/core/src/turn/agent-session.ts",
    find: "    this.#notifyIgnored(driver);\n",
    replace: "",
    tests: SETTINGS_TESTS,
  },
  {
    name: "deprecation-as-warning",
    promise: "A deprecation notice reaches Codex clients as one.",
    file: "packages/frontends/src/codex/events/events.ts",
    find: 'reason === "deprecation"',
    replace: 'reason === "deprecated"',
    tests: ["packages/frontends/src/codex/events/events.test.ts"],
  },
  {
    name: "claude-refusal-lost",
    promise: "A refusal of Claude ends the turn as refused.",
    file: RESULT,
    find: 'frame.stop_reason === "refusal"',
    replace: 'frame.stop_reason === "refused"',
    tests: RESULT_TESTS,
  },
  {
    name: "claude-cut-off-completes",
    promise: "An answer of Claude that was cut off does not complete the turn.",
    file: RESULT,
    find: " || LIMITS_REACHED.has(frame.subtype)",
    replace: "",
    tests: RESULT_TESTS,
  },
  {
    name: "closed-dots-continue",
    promise: "Only open tasks of Dots continue a turn that is out of steps.",
    file: "packages/frontends/src/acp/prompt/stop-reason.ts",
    find: "!CLOSED.has(task.status)",
    replace: "task.status !== undefined",
    tests: ["packages/frontends/src/acp/prompt/commands.test.ts"],
  },
  {
    name: "streamed-item-started-twice",
    promise: "A file change that was streamed has one item.",
    file: "packages/drivers/src/claude/translate.ts",
    find: "known?.isStreaming === true",
    replace: "known?.isStreaming === false",
    tests: STREAMED_TESTS,
  },
  {
    name: "empty-change-to-codex",
    promise: "A Codex client is sent the start of a change once its content is known.",
    file: "packages/frontends/src/codex/ordering/stages.ts",
    find: "return this.#withhold(event.data.threadId, event.data.item.id);",
    replace: "return [event];",
    tests: ["packages/frontends/src/codex/ordering/stages.test.ts"],
  },
  {
    name: "capabilities-constant",
    promise: "initialize answers with the capabilities of the agent itself.",
    file: "packages/core/src/handlers/config.ts",
    find: "{ ...(driver.capabilities?.(model) ?? ALL_CAPABILITIES) }",
    replace: "{ ...ALL_CAPABILITIES }",
    tests: SETTINGS_TESTS,
  },
  {
    name: "harness-agent-ignored",
    promise: "The harness protocol runs a turn with the agent that it names.",
    file: "packages/frontends/src/harness/frontend.ts",
    find: "...(agent === undefined || ROLES.has(agent) ? {} : { agent }),",
    replace: "",
    tests: ["packages/frontends/src/harness/frontend.test.ts"],
  },
];
