import type { Mutation } from "../mutation.ts";

const THREAD_SESSIONS = "packages/drivers/src/shared/sessions/thread-sessions.ts";
const THREAD_SESSIONS_TESTS = ["packages/drivers/src/shared/sessions/thread-sessions.test.ts"];
const CODEX_REQUESTS = "packages/drivers/src/codex/server-requests.ts";
const CODEX_REQUEST_TESTS = ["packages/drivers/src/codex/server-requests.test.ts"];
const CLAUDE_PROCESS = "packages/drivers/src/claude/process/process.ts";
const CLAUDE_SETTINGS_TESTS = ["packages/drivers/src/claude/changed-settings.test.ts"];
const CLAUDE_REQUESTS = "packages/drivers/src/claude/control-requests.ts";
const CLAUDE_REQUEST_TESTS = ["packages/drivers/src/claude/control-requests.test.ts"];

/** Faults in what agents are sent, and in how their output is read. */
export const DRIVER_FAULTS: readonly Mutation[] = [
  {
    name: "codex-session-mode-published",
    promise: "A published session of Codex does not turn off approvals.",
    file: "packages/drivers/src/shared/sessions/codex-transcripts.ts",
    find: '["approvalpolicy", "on-request"],',
    replace: "",
    tests: ["packages/drivers/src/shared/sessions/transcripts.test.ts"],
  },
  {
    name: "claude-session-lines-published",
    promise: "Nothing but the conversation of a session of Claude is published.",
    file: "packages/drivers/src/shared/sessions/claude-transcripts.ts",
    find: "CONVERSATION.has(type)",
    replace: "CONVERSATION.has(type) || true",
    tests: ["packages/drivers/src/shared/sessions/transcripts.test.ts"],
  },
  {
    name: "foreign-session-replaced",
    promise: "A confined agent cannot replace a session that it was not given.",
    file: THREAD_SESSIONS,
    find: 'if (known === undefined && existing.length > 0) return "there is another one with its id";',
    replace: "",
    tests: THREAD_SESSIONS_TESTS,
  },
  {
    name: "changed-session-replaced",
    promise: "A session that was changed outside of Flint meanwhile is not replaced.",
    file: THREAD_SESSIONS,
    find: "original === undefined || original.identity !== known.identity",
    replace: "original === undefined",
    tests: THREAD_SESSIONS_TESTS,
  },
  {
    name: "session-of-another-claimed",
    promise: "An agent cannot claim a session that is already there.",
    file: THREAD_SESSIONS,
    find: "(await this.#originals.find(id)).length > 0 ||",
    replace: "",
    tests: THREAD_SESSIONS_TESTS,
  },
  {
    name: "session-link-followed",
    promise: "A link in the place of a session is not followed.",
    file: "packages/host/src/files/folder-below.ts",
    find: "const FILE = constants.O_RDONLY | constants.O_NOFOLLOW |",
    replace: "const FILE = constants.O_RDONLY |",
    tests: THREAD_SESSIONS_TESTS,
  },
  {
    name: "codex-declined-file-accepted",
    promise: "Codex does not make a file change that the user declined.",
    file: CODEX_REQUESTS,
    find: "return { decision: fileDecision(await approveFiles(call.params, context)) };",
    replace:
      'return { decision: fileDecision({ ...(await approveFiles(call.params, context)), outcome: "allow" }) };',
    tests: CODEX_REQUEST_TESTS,
  },
  {
    name: "codex-declined-tool-accepted",
    promise: "Codex does not call a tool that the user declined.",
    file: CODEX_REQUESTS,
    find: 'deny: { action: "decline", content: null, _meta: null },',
    replace: 'deny: { action: "accept", content: {}, _meta: null },',
    tests: CODEX_REQUEST_TESTS,
  },
  {
    name: "codex-declined-skill-accepted",
    promise: "An older Codex does not use a skill that the user declined.",
    file: CODEX_REQUESTS,
    find: "return { decision: skillDecision(await approveSkill(call.params, context)) };",
    replace:
      'return { decision: skillDecision({ ...(await approveSkill(call.params, context)), outcome: "allow" }) };',
    tests: CODEX_REQUEST_TESTS,
  },
  {
    name: "codex-review-mode-ignored",
    promise: "A prompt in the collaboration mode review starts a review.",
    file: "packages/drivers/src/codex/session.ts",
    find: 'settings.config[COLLABORATION_MODE] !== "review"',
    replace: 'settings.config[COLLABORATION_MODE] !== ""',
    tests: ["packages/drivers/src/codex/review-mode.test.ts"],
  },
  {
    name: "codex-models-not-cached",
    promise: "Codex is asked for its models once.",
    file: "packages/drivers/src/codex/driver.ts",
    find: "this.#listed = { server, models: data };",
    replace: "this.#listed = undefined;",
    tests: ["packages/drivers/src/codex/driver.test.ts"],
  },
  {
    name: "codex-approves-by-itself",
    promise: "Codex requests every approval, so that Flint's rules apply.",
    file: "packages/drivers/src/codex/settings.ts",
    find: 'const APPROVAL_POLICY: CodexApprovalPolicy = "untrusted";',
    replace: 'const APPROVAL_POLICY: CodexApprovalPolicy = "on-failure";',
    tests: ["packages/drivers/src/codex/settings.test.ts"],
  },
  {
    name: "claude-turn-limit-lost",
    promise: "A Claude that ran out of steps ends its turn with TurnLimitReached.",
    file: "packages/drivers/src/claude/translate/result.ts",
    find: 'errorInfo: "TurnLimitReached",',
    replace: 'errorInfo: "Other",',
    tests: ["packages/drivers/src/claude/translate/result.test.ts"],
  },
  {
    name: "claude-kept-after-cwd",
    promise: "Claude is started again when the working directory changes.",
    file: CLAUDE_PROCESS,
    find: "return JSON.stringify([cwd, sandboxPolicy, developerInstructions, outputSchema]);",
    replace: 'return JSON.stringify([cwd === "", sandboxPolicy, developerInstructions, outputSchema]);',
    tests: CLAUDE_SETTINGS_TESTS,
  },
  {
    name: "claude-kept-after-sandbox",
    promise: "Claude is started again when the sandbox changes.",
    file: CLAUDE_PROCESS,
    find: "return JSON.stringify([cwd, sandboxPolicy, developerInstructions, outputSchema]);",
    replace: "return JSON.stringify([cwd, sandboxPolicy === null, developerInstructions, outputSchema]);",
    tests: CLAUDE_SETTINGS_TESTS,
  },
  {
    name: "claude-outside-turn-allowed",
    promise: "Claude may do nothing while no turn runs.",
    file: CLAUDE_REQUESTS,
    find: 'return { response: { behavior: "deny", message, interrupt: false } };\n    }\n  }\n}',
    replace: 'return { response: { behavior: "allow", message, interrupt: false } };\n    }\n  }\n}',
    tests: CLAUDE_REQUEST_TESTS,
  },
  {
    name: "claude-hook-lets-pass",
    promise: "Claude asks before every tool that may change something.",
    file: CLAUDE_REQUESTS,
    find: "return isAsked ? ASK : CONTINUE;",
    replace: 'return isAsked && policy === "always" ? ASK : CONTINUE;',
    tests: CLAUDE_REQUEST_TESTS,
  },
  {
    name: "claude-leaves-sandbox-unasked",
    promise: "A command with which Claude leaves its sandbox is asked about as such.",
    file: CLAUDE_REQUESTS,
    find: "return isLeaving ? unconfinedNeed(settings) : undefined;",
    replace: 'return isLeaving && settings.cwd === "" ? unconfinedNeed(settings) : undefined;',
    tests: CLAUDE_REQUEST_TESTS,
  },
  {
    name: "claude-sub-agent-uncounted",
    promise: "The calls of Claude's sub-agents count for the limits of their turn.",
    file: "packages/drivers/src/claude/translate/result.ts",
    find: "if (id === undefined || usage == null || state.counted.has(id)) return [state, []];",
    replace: "if (id !== undefined || usage == null || state.counted.has(id)) return [state, []];",
    tests: ["packages/drivers/src/claude/translate/result.test.ts"],
  },
  {
    name: "codex-sub-agent-uncounted",
    promise: "What Codex's sub-agents use counts for the turn that they work for.",
    file: "packages/drivers/src/codex/translate/sub-agents.ts",
    find: 'return [{ type: "usage", last: event.last, parentItemId }];',
    replace: "return [];",
    tests: ["packages/drivers/src/codex/sub-agents.test.ts"],
  },
  {
    name: "acp-agent-remembers",
    promise: "A call is allowed once where its agent offers that.",
    file: "packages/drivers/src/acp/requests/permissions.ts",
    find: '["allow_once", "allow_always"]',
    replace: '["allow_always", "allow_once"]',
    tests: ["packages/drivers/src/acp/requests/permissions.test.ts"],
  },
];
