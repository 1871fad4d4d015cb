import type { Mutation } from "../mutation.ts";

const CODEX_OPTIONS = ["packages/frontends/src/codex/requests/requested-options.test.ts"];
const CODEX_APPROVALS = "packages/frontends/src/codex/asks/approvals.ts";
const CODEX_APPROVAL_TESTS = ["packages/frontends/src/codex/asks/approvals.test.ts"];
const ACP_PERMISSION = "packages/frontends/src/acp/asks/permission.ts";
const ACP_PERMISSION_TESTS = ["packages/frontends/src/acp/asks/permission.test.ts"];
const AUTHORIZE = "packages/server/src/listeners/authorize.ts";
const AUTHORIZE_TESTS = ["packages/server/src/listeners/authorize.test.ts"];

/** Faults in what clients are asked and answered, and in who may be a client. */
export const FRONT_END_FAULTS: readonly Mutation[] = [
  {
    name: "codex-client-declines-file",
    promise: "A Codex client that declines a file change declines it.",
    file: CODEX_APPROVALS,
    find: "return read.success ? plainDecision(read.data.decision) : unreadable(answer);",
    replace: "return read.success ? ALLOW_ONCE : unreadable(answer);",
    tests: CODEX_APPROVAL_TESTS,
  },
  {
    name: "codex-client-cancels",
    promise: "A Codex client that cancels ends the turn, not only this action.",
    file: CODEX_APPROVALS,
    find: '    case "cancel":\n      return { outcome: "cancel", scope: "once" };',
    replace: '    case "cancel":\n      return DENY;',
    tests: CODEX_APPROVAL_TESTS,
  },
  {
    name: "codex-rule-not-offered",
    promise: "A rule that was not offered allows only what was shown.",
    file: CODEX_APPROVALS,
    find: 'return isAsked ? { outcome: "allow", scope: "always" } : ALLOW_ONCE;',
    replace: 'return { outcome: "allow", scope: isAsked ? "always" : "always" };',
    tests: CODEX_APPROVAL_TESTS,
  },
  {
    name: "codex-output-schema-dropped",
    promise: "The output schema of a Codex client reaches the agent.",
    file: "packages/frontends/src/codex/requests/turns.ts",
    find: "const schema = isRecord(outputSchema) ? { outputSchema } : {};",
    replace: "const schema = isRecord(outputSchema) ? {} : {};",
    tests: CODEX_OPTIONS,
  },
  {
    name: "codex-resume-instructions-dropped",
    promise: "The instructions of thread/resume reach the agent.",
    file: "packages/frontends/src/codex/requests/open-thread.ts",
    find: "isChild ? {} : await openingOverrides(params, core, threadId);",
    replace:
      "isChild ? {} : await openingOverrides({ ...params, developerInstructions: null }, core, threadId);",
    tests: CODEX_OPTIONS,
  },
  {
    name: "codex-ephemeral-dropped",
    promise: "A thread that a Codex client starts as ephemeral is ephemeral.",
    file: "packages/frontends/src/codex/requests/open-thread.ts",
    find: "const start = { ...overrides, ...withoutNullish({ ephemeral }), ...readClientTools(dynamicTools) };",
    replace: "const start = { ...overrides, ...(ephemeral ? {} : {}), ...readClientTools(dynamicTools) };",
    tests: CODEX_OPTIONS,
  },
  {
    name: "codex-list-order-ignored",
    promise: "thread/list has the order that a Codex client asks for.",
    file: "packages/frontends/src/codex/requests/history.ts",
    find: 'sortKey: sortKey === "created_at" ? "createdAt" : "updatedAt",',
    replace: 'sortKey: sortKey === "created_at" ? "updatedAt" : "updatedAt",',
    tests: ["packages/frontends/src/codex/requests/history.test.ts"],
  },
  {
    name: "codex-list-direction-ignored",
    promise: "thread/list has the direction that a Codex client asks for.",
    file: "packages/frontends/src/codex/requests/history.ts",
    find: "...withoutNullish({ cursor, archived, searchTerm, parentThreadId, sortDirection }),",
    replace:
      "...withoutNullish({ cursor, archived, searchTerm, parentThreadId, ...(sortDirection ? {} : {}) }),",
    tests: ["packages/frontends/src/codex/requests/history.test.ts"],
  },
  {
    name: "acp-reject-allows",
    promise: "An ACP client that rejects an action rejects it.",
    file: ACP_PERMISSION,
    find: '["reject_once", REJECTED],',
    replace: '["reject_once", { outcome: "allow", scope: "once" }],',
    tests: ACP_PERMISSION_TESTS,
  },
  {
    name: "acp-unknown-option-allows",
    promise: "An answer that was not offered is a denial.",
    file: ACP_PERMISSION,
    find: "return DECISIONS.get(chosen) ?? NOT_UNDERSTOOD;",
    replace: 'return DECISIONS.get(chosen) ?? { outcome: "allow", scope: "once" };',
    tests: ACP_PERMISSION_TESTS,
  },
  {
    name: "acp-cancelled-ends-turn",
    promise: "An interrupted turn stops with the reason cancelled.",
    file: "packages/frontends/src/acp/prompt/stop-reason.ts",
    find: 'return "cancelled";',
    replace: 'return "end_turn";',
    tests: ["packages/frontends/src/acp/prompt/prompts.test.ts"],
  },
  {
    name: "foreign-origin-accepted",
    promise: "A web page of another origin is rejected.",
    file: AUTHORIZE,
    find: "!rules.allowOrigins.includes(headers.origin)",
    replace: 'headers.origin === "" && !rules.allowOrigins.includes(headers.origin)',
    tests: AUTHORIZE_TESTS,
  },
  {
    name: "token-not-required",
    promise: "A client without the token is rejected.",
    file: AUTHORIZE,
    find: "return accessOf(token);",
    replace: 'return token === "" ? "all" : accessOf(token);',
    tests: AUTHORIZE_TESTS,
  },
  {
    name: "login-stays-in-flint",
    promise: "A login of a Codex client reaches the agent, and its end reaches every client.",
    file: "packages/drivers/src/codex/account-control.ts",
    find: "        listener.loginEnded(ended);\n",
    replace: "",
    tests: ["test/e2e/codex/login.test.ts"],
  },
  {
    name: "logout-ignored",
    promise: "A logout of a Codex client logs out of the agent.",
    file: "packages/core/src/handlers/account.ts",
    find: "?.logout(events);",
    replace: ";",
    tests: ["test/e2e/codex/login.test.ts"],
  },
  {
    name: "confined-command-in-client-terminal",
    promise: "A command that the sandbox confines never runs in a client's terminal.",
    file: "packages/core/src/thread/thread-sandbox.ts",
    find: "itemId !== undefined && isOutside(spec) ?",
    replace: "itemId !== undefined ?",
    tests: ["packages/core/src/thread/thread-sandbox.test.ts"],
  },
  {
    name: "client-terminal-not-killed",
    promise: "Interrupting a turn kills its command in the client's terminal.",
    file: "packages/frontends/src/acp/editor/terminal.ts",
    find: '    await requests.answer("terminal/kill", { terminalId: this.#terminalId });\n',
    replace: "",
    tests: ["packages/frontends/src/acp/editor/editor.test.ts"],
  },
  {
    name: "unsaved-changes-overwritten",
    promise: "A file is changed as it is in the editor, with what is not saved yet.",
    file: "packages/agent/src/tools/files/workspace-file.ts",
    find: "    if (text === undefined) return saved;\n",
    replace: "    if (text === undefined || saved !== undefined) return saved;\n",
    tests: ["packages/frontends/src/acp/editor/editor.test.ts"],
  },
  {
    name: "acp-leaving-sandbox-for-always",
    promise: "An editor is not offered to let an action leave its sandbox, or connect anywhere, for always.",
    file: "packages/frontends/src/acp/asks/permission.ts",
    find: 'if (needs?.unconfined === true || needs?.network === "all") return [];',
    replace: 'if (needs?.unconfined === true && needs?.network === "all") return [];',
    tests: ["packages/frontends/src/acp/asks/permission.test.ts"],
  },
  {
    name: "hooks-of-codex-dropped",
    promise: "A Codex client sees the hooks that the Codex behind has.",
    file: "packages/frontends/src/codex/host/catalog.ts",
    find: "const folders = isCodex(names) ? data : data.map(({ cwd }) => ({ cwd, ...NO_HOOKS }));",
    replace: "const folders = data.map(({ cwd }) => ({ cwd, ...NO_HOOKS }));",
    tests: ["packages/frontends/src/codex/requests/requested-options.test.ts"],
  },
  {
    name: "harness-stops-all",
    promise: "A harness client that stops one background command leaves the others running.",
    file: "packages/frontends/src/harness/frontend.ts",
    find: "params: { threadId: threadIdOf(threadId), ...(processId === undefined ? {} : { processId }) },",
    replace: "params: { threadId: threadIdOf(threadId) },",
    tests: ["packages/frontends/src/harness/frontend.test.ts"],
  },
];
