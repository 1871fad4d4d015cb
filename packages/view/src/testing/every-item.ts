import type { Item, ItemType, ThreadItem, Turn } from "@flint/protocol";

/** One item of every type; the compiler names a type that is missing. */
export const EVERY_ITEM: { readonly [Type in ItemType]: Item<Type> } = {
  userMessage: {
    type: "userMessage",
    id: "user",
    content: [
      { type: "text", text: "fix the tests, see" },
      { type: "mention", name: "app.ts", path: "src/app.ts" },
      { type: "image", url: `data:image/png;base64,${"A".repeat(40)}` },
    ],
    client: "Zed",
  },
  agentMessage: {
    type: "agentMessage",
    id: "message",
    text: "I found **two** problems:\n\n1. `total` is wrong\n2. the test is flaky\n\n```ts\nconst total = 1 + 1; // two\n```\n",
  },
  reasoning: {
    type: "reasoning",
    id: "thought",
    content: "First I look.\nThen I decide.\nIn the end I act.",
  },
  commandExecution: {
    type: "commandExecution",
    id: "command",
    command: "npm test",
    cwd: "/repo",
    status: "completed",
    exitCode: 1,
    aggregatedOutput: "1 failed\n",
    durationMs: 1200,
  },
  fileChange: {
    type: "fileChange",
    id: "change",
    status: "completed",
    changes: [
      {
        path: "/repo/src/app.ts",
        kind: "modify",
        diff: '--- a\n+++ b\n@@ -8,3 +8,4 @@\n const one = 1;\n-const total = one;\n+const total = one + 1;\n+const name = "sum";\n export { total };\n',
      },
      { path: "/repo/b.ts", kind: "add", diff: "+z\n" },
    ],
  },
  mcpToolCall: {
    type: "mcpToolCall",
    id: "mcp",
    server: "web",
    tool: "get",
    arguments: { url: "https://example.com/a", headers: { accept: "text/html" } },
    status: "failed",
    error: "404",
  },
  toolCall: {
    type: "toolCall",
    id: "tool",
    tool: "read_file",
    arguments: { path: "src/app.ts", first_line: 10 },
    status: "completed",
    result: "const one = 1;",
    durationMs: 30,
  },
  webSearch: { type: "webSearch", id: "search", query: "flint" },
  plan: {
    type: "plan",
    id: "plan",
    text: "",
    entries: [
      { step: "look", status: "completed" },
      { step: "fix", status: "inProgress" },
      { step: "test", status: "pending" },
    ],
  },
  enteredReviewMode: { type: "enteredReviewMode", id: "review", review: "main" },
  exitedReviewMode: { type: "exitedReviewMode", id: "reviewed", review: "Looks *good*." },
  contextCompaction: { type: "contextCompaction", id: "compaction", summary: "It was about tests." },
  agentHandoff: {
    type: "agentHandoff",
    id: "handoff",
    fromAgent: "codex",
    toAgent: "claude",
    missedTurns: 2,
  },
  subAgentMessage: { type: "subAgentMessage", id: "sub-agent", text: "Found **it**." },
  hookRun: {
    type: "hookRun",
    id: "hook",
    event: "PreToolUse",
    status: "blocked",
    output: "Not now.",
    exitCode: 2,
  },
};

const hologram = { type: "hologram", id: "h-1", text: "a cube", size: { width: 3 } };

/** An item of a type that only its agent knows. */
export const EXTENSION: ThreadItem = hologram;

/** Items in every status that they can have, by a name for each. */
export function everyStatus(): Readonly<Record<string, ThreadItem>> {
  const { commandExecution: command, fileChange: change, toolCall: tool, mcpToolCall: mcp } = EVERY_ITEM;
  const { exitCode: _code, aggregatedOutput: _output, durationMs: _took, ...begun } = command;
  const { error: _error, ...call } = mcp;
  return {
    ...EVERY_ITEM,
    "command in progress": { ...begun, status: "inProgress" },
    "command that succeeded": { ...command, exitCode: 0 },
    "command that was declined": { ...begun, status: "declined" },
    "command with long output": {
      ...command,
      exitCode: 0,
      aggregatedOutput: Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join(""),
    },
    "command with omitted output": { ...command, exitCode: 0, omittedOutputBytes: 5_000_000 },
    "command in the background": { ...begun, status: "completed", _meta: { background: "1" } },
    "command without a host": {
      ...command,
      connections: [{ host: "registry.example", port: 443, allowed: false }],
    },
    "command of the user": { ...command, source: "userShell", exitCode: 0 },
    "change in progress": { ...change, status: "inProgress" },
    "change that failed": { ...change, status: "failed", output: "conflict" },
    "change that was declined": { ...change, status: "declined" },
    "tool in progress": { ...tool, status: "inProgress" },
    "tool that was declined": { ...tool, status: "declined" },
    "MCP call that returned text and an image": {
      ...call,
      status: "completed",
      result: {
        content: [
          { type: "text", text: "one" },
          { type: "image", data: "A".repeat(40), mimeType: "image/jpeg" },
        ],
      },
    },
    "empty reasoning": { type: "reasoning", id: "thought" },
    "plan as text": { type: "plan", id: "plan", text: "1. look\n2. fix" },
    extension: EXTENSION,
  };
}

/** A turn with these items. */
export function turnWith(items: readonly ThreadItem[], rest: Partial<Turn> = {}): Turn {
  return { id: "turn", status: "completed", items: [...items], ...rest };
}
