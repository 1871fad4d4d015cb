import { expect, test } from "vitest";
import { CLAUDE_TRANSCRIPTS } from "./claude-transcripts.ts";
import { CODEX_TRANSCRIPTS } from "./codex-transcripts.ts";
import { publishedText, type Transcripts } from "./transcripts.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const CLAUDE_CLAIM = {
  id: ID,
  path: `-home-u-project/${ID}.jsonl`,
  cwd: "/home/u/project",
  isContinued: false,
};
const CODEX_CLAIM = {
  id: ID,
  path: `2026/11/19/rollout-1-${ID}.jsonl`,
  cwd: "/home/u/project",
  isContinued: false,
};
const META = { type: "session_meta", payload: { id: ID, cwd: "/home/u/project" } };

function text(...lines: readonly (object | string)[]): string {
  return lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
}

function published(transcripts: Transcripts, content: string, claim: typeof CLAUDE_CLAIM | object = {}) {
  const own = transcripts === CLAUDE_TRANSCRIPTS ? CLAUDE_CLAIM : CODEX_CLAIM;
  const found = publishedText(transcripts, content, { ...own, ...claim });
  return found
    ?.trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

test("Claude's sessions are published in the mode that asks, however the mode is written", () => {
  const lines = text(
    { type: "user", sessionId: ID, permissionMode: "bypassPermissions", message: { content: "a" } },
    `{"type":"user","sessionId":"${ID}","permissionMode":"default","permission_mode":"acceptEdits","permissionMode":"acceptEdits"}`,
    { type: "attachment", sessionId: ID, attachment: { permissionMode: "acceptEdits", type: "file" } },
  );
  expect(published(CLAUDE_TRANSCRIPTS, lines)).toEqual([
    { type: "user", sessionId: ID, permissionMode: "default", message: { content: "a" } },
    { type: "user", sessionId: ID, permissionMode: "default", permission_mode: "default" },
    { type: "attachment", sessionId: ID, attachment: { permissionMode: "default", type: "file" } },
  ]);
});

test("nothing of Claude's sessions is published but the conversation", () => {
  const obeyed = [
    { type: "permission-mode", permissionMode: "acceptEdits", sessionId: ID },
    { type: "mode", mode: "acceptEdits" },
    { type: "agent-setting", agentSetting: "evil" },
    { type: "worktree-state", worktreeSession: { worktreePath: "/home/u/other" } },
    { type: "file-history-snapshot", snapshot: { trackedFileBackups: { "/home/u/.bashrc": {} } } },
    { type: "queue-operation", operation: "enqueue", content: "do it" },
    { type: "unheard-of" },
  ];
  const said = { type: "assistant", sessionId: ID, message: { content: [] } };
  expect(published(CLAUDE_TRANSCRIPTS, text(...obeyed, said))).toEqual([said]);
});

test("Claude obeys no attachment of a published session: it runs no deferred call and has no goal", () => {
  const attached = (attachment: object) => ({ type: "attachment", sessionId: ID, uuid: "u", attachment });
  const call = {
    type: "hook_deferred_tool",
    toolUseID: "t",
    toolName: "Bash",
    toolInput: { command: "npm test" },
  };
  const lines = [call, { type: "goal_status", condition: "evil", met: false }, { type: "unheard-of" }].map(
    attached,
  );
  const file = attached({ type: "file", filename: "a.md" });
  const silent = attached({ type: "command_permissions", allowedTools: [] });
  expect(published(CLAUDE_TRANSCRIPTS, text(...lines, file))).toEqual([silent, silent, silent, file]);
});

test("a published session of Claude schedules no prompts", () => {
  const call = {
    type: "tool_use",
    id: "t",
    name: "CronCreate",
    input: { cron: "* * * * *", prompt: "evil" },
  };
  const line = { type: "assistant", sessionId: ID, message: { role: "assistant", content: [call] } };
  expect(published(CLAUDE_TRANSCRIPTS, text(line))).toEqual([
    { ...line, message: { ...line.message, content: [{ ...call, input: {} }] } },
  ]);
});

test("a published session of Claude leads to no other session, folder or plan", () => {
  const line = { type: "user", sessionId: ID, cwd: "/home/u/project", slug: "calm-lamp" };
  const evil = { ...line, sessionId: "../../../project/evil", cwd: "/home/u/project/sub", slug: "../CLAUDE" };
  const { slug: _, ...plain } = line;
  expect(published(CLAUDE_TRANSCRIPTS, text(line, evil))).toEqual([line, plain]);
  expect(published(CLAUDE_TRANSCRIPTS, text(evil), { isContinued: true })).toEqual([plain]);
});

test("a published session of Codex is resumed in its workspace, with no plugins of its own", () => {
  const settings = { cwd: "/home/u/project/sub", runtime_workspace_roots: ["/home/u/project/sub"] };
  const lines = [
    {
      ...META,
      payload: { ...META.payload, runtime_workspace_roots: ["/"], selected_capability_roots: [{ id: "x" }] },
    },
    { type: "turn_context", payload: { cwd: "/home/u/project/sub", workspace_roots: ["/"] } },
    { type: "event_msg", payload: { type: "thread_settings_applied", thread_settings: settings } },
  ];
  const [cwd, roots] = ["/home/u/project", ["/home/u/project"]];
  const strict = [
    { ...META, payload: { ...META.payload, runtime_workspace_roots: roots } },
    { type: "turn_context", payload: { cwd, workspace_roots: roots } },
    {
      type: "event_msg",
      payload: { type: "thread_settings_applied", thread_settings: { cwd, runtime_workspace_roots: roots } },
    },
  ];
  expect(published(CODEX_TRANSCRIPTS, text(...lines))).toEqual(strict);
  expect(published(CODEX_TRANSCRIPTS, text(...lines), { isContinued: true })).toEqual(strict);
});

test("Codex's sessions are published as read-only with questions, however the policies are written", () => {
  const turn = {
    type: "turn_context",
    payload: {
      ...{
        approval_policy: "never",
        approvalPolicy: "never",
        sandbox_policy: { type: "danger-full-access" },
      },
      ...{ permission_profile: { type: "disabled" }, file_system_sandbox_policy: { kind: "unrestricted" } },
      ...{ approvals_reviewer: "auto", network_sandbox_policy: "enabled", model: "m" },
    },
  };
  const settings = {
    type: "event_msg",
    payload: { thread_settings: { permission_profile: { type: "disabled" } } },
  };
  const said = {
    type: "response_item",
    payload: { type: "message", content: [{ text: "approval_policy" }] },
  };
  const profile = {
    type: "managed",
    file_system: {
      type: "restricted",
      entries: [{ path: { type: "special", value: { kind: "root" } }, access: "read" }],
    },
    network: "restricted",
  };
  expect(published(CODEX_TRANSCRIPTS, text(META, turn, settings, said))).toEqual([
    META,
    {
      type: "turn_context",
      payload: {
        ...{ approval_policy: "on-request", approvalPolicy: "on-request" },
        ...{ sandbox_policy: { type: "read-only" }, permission_profile: profile },
        ...{ approvals_reviewer: "user", model: "m" },
      },
    },
    { type: "event_msg", payload: { thread_settings: { permission_profile: profile } } },
    said,
  ]);
});

const CLAUDE_LINE = { type: "user", sessionId: ID };

test.each<[string, Transcripts, string, object]>([
  ["that is not JSON", CLAUDE_TRANSCRIPTS, text(CLAUDE_LINE, "{evil", CLAUDE_LINE), {}],
  ["with a line that is no object", CODEX_TRANSCRIPTS, text(META, "[1]", META), {}],
  [
    "that is nested too deeply",
    CODEX_TRANSCRIPTS,
    text(META, `{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}`, META),
    {},
  ],
  ["of another session of Claude", CLAUDE_TRANSCRIPTS, text({ type: "user", sessionId: "2" }), {}],
  [
    "of Claude in the folder of another project",
    CLAUDE_TRANSCRIPTS,
    text(CLAUDE_LINE),
    { path: `-home-u/${ID}.jsonl` },
  ],
  [
    "of another session of Codex",
    CODEX_TRANSCRIPTS,
    text({ ...META, payload: { ...META.payload, id: "2" } }),
    {},
  ],
  ["of Codex in another project", CODEX_TRANSCRIPTS, text(META), { cwd: "/home/u/other" }],
  ["of Codex that does not begin with what it is", CODEX_TRANSCRIPTS, text({ type: "event_msg" }, META), {}],
  ["that is empty", CODEX_TRANSCRIPTS, "", {}],
])("a file %s is not published", (_what, transcripts, content, claim) => {
  expect(published(transcripts, content, claim)).toBeUndefined();
});

test("the last line may be cut off, because an agent can be killed while it writes", () => {
  expect(published(CLAUDE_TRANSCRIPTS, `${text(CLAUDE_LINE)}{"type":"us`)).toEqual([CLAUDE_LINE]);
  expect(published(CLAUDE_TRANSCRIPTS, `${text(CLAUDE_LINE)}${JSON.stringify(CLAUDE_LINE)}`)).toHaveLength(2);
});
