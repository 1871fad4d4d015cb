import type { ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { expect, test } from "vitest";
import { textOf } from "./line.ts";
import { Timeline } from "./timeline.ts";

const ids = { threadId: "thread", turnId: "turn" };

class Shown {
  readonly timeline: Timeline;
  now = 0;

  constructor(columns = 60, unicode = true, how?: string) {
    const look = { columns, rows: 20, colour: false, unicode };
    this.timeline = new Timeline({ cwd: "/repo", look: () => look, now: () => this.now, how });
  }

  /** Returns the rows that are final after these events. */
  rows(...events: readonly AgentEvent[]): string[] {
    for (const event of events) this.timeline.show(event);
    return this.timeline.takeRows().map(textOf);
  }

  live(most = 20): string[] {
    return this.timeline.liveRows(most).map(textOf);
  }
}

const started = (item: ThreadItem): AgentEvent => ({ type: "item/started", data: { ...ids, item } });
const completed = (item: ThreadItem): AgentEvent => ({ type: "item/completed", data: { ...ids, item } });
const command = { type: "commandExecution", id: "c", command: "npm test", cwd: "/repo" } as const;

function piece(type: "agentMessage/delta" | "commandExecution/outputDelta" | "reasoning/textDelta") {
  return (itemId: string, delta: string, offset = 0): AgentEvent => ({
    type: `item/${type}`,
    data: { ...ids, itemId, delta, offset },
  });
}
const said = piece("agentMessage/delta");
const printed = piece("commandExecution/outputDelta");
const thought = piece("reasoning/textDelta");

function plan(...statuses: readonly ("pending" | "inProgress" | "completed" | "failed")[]): AgentEvent {
  const entries = statuses.map((status, number) => ({ step: `step ${number + 1}`, status }));
  return { type: "turn/plan/updated", data: { ...ids, explanation: "", plan: entries } };
}

const change = {
  path: "/repo/a.ts",
  kind: "modify",
  diff: "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-one\n+two\n",
} as const;

test("shows the end of truncated output, and how many bytes are omitted", () => {
  const shown = new Shown();
  shown.rows(started({ ...command, status: "inProgress" }), printed("c", "first\n".repeat(30)));
  const cut = { aggregatedOutput: "first\n\nlast one\n", omittedOutputBytes: 2_621_440 };
  const rows = shown.rows(completed({ ...command, ...cut, status: "completed", exitCode: 0 }));
  expect(rows.slice(1)).toEqual(["  … 2.5 MiB omitted", "  first", "", "  last one"]);
});

test("says how to see the output that is folded", () => {
  const shown = new Shown(60, true, "flint threads show last");
  const aggregatedOutput = Array.from({ length: 65 }, (_, at) => `${at + 1}\n`).join("");
  const rows = shown.rows(completed({ ...command, status: "completed", exitCode: 0, aggregatedOutput }));
  expect(rows).toContain("  … 55 more lines (flint threads show last)");
});

test("shows a running command with its latest output, and a completed one with its status, time and last lines [S0-102]", () => {
  const shown = new Shown();
  shown.rows(started({ ...command, status: "inProgress" }));
  shown.now = 3_000;
  const lines = Array.from({ length: 30 }, (_, number) => `line ${number + 1}\n`).join("");
  shown.rows(printed("c", lines));
  expect(shown.live()).toEqual([
    "● $ npm test  3.0s",
    "  … 26 more lines",
    "  line 27",
    "  line 28",
    "  line 29",
    "  line 30",
  ]);
  const rows = shown.rows(completed({ ...command, status: "completed", exitCode: 1, durationMs: 3_400 }));
  expect(rows.slice(0, 3)).toEqual(["✗ $ npm test  exit 1, 3.4s", "  … 20 more lines", "  line 21"]);
  expect([rows.length, shown.live()]).toEqual([12, []]);
});

test("streams a message, and prints it once", () => {
  const shown = new Shown(20);
  expect(
    shown.rows(started({ type: "agentMessage", id: "m", text: "" }), said("m", "This is a line of")),
  ).toEqual([]);
  expect(shown.live()).toEqual(["This is a line of"]);
  // The paragraph is final when the line that follows it is known.
  expect(shown.rows(said("m", " text.\n\nNext", 17))).toEqual([]);
  expect(shown.live()).toEqual(["This is a line of", "text.", "", "Next"]);
  expect(shown.rows(said("m", " one\n", 29))).toEqual(["This is a line of", "text."]);
  const whole = { type: "agentMessage", id: "m", text: "This is a line of text.\n\nNext one\n" } as const;
  expect(shown.rows(completed(whole))).toEqual(["", "Next one"]);
});

test("prints a message that was not streamed", () => {
  expect(new Shown().rows(completed({ type: "agentMessage", id: "m", text: "hello" }))).toEqual(["hello"]);
});

test("separates blocks by an empty row, but not single lines", () => {
  const search = (id: string) => completed({ type: "webSearch", id, query: "why" });
  expect(new Shown().rows(search("1"), search("2"), plan("pending"), search("3"))).toEqual([
    "⌕ Web search: why",
    "⌕ Web search: why",
    "",
    "Plan",
    "  ○ step 1",
    "",
    "⌕ Web search: why",
  ]);
});

test("shows a plan in full first, then only the changed steps", () => {
  const shown = new Shown();
  expect(shown.rows(plan("inProgress", "pending", "pending"))).toEqual([
    "Plan",
    "  ▸ step 1",
    "  ○ step 2",
    "  ○ step 3",
  ]);
  expect(shown.rows(plan("completed", "inProgress", "pending"))).toEqual(["", "  ✓ step 1", "  ▸ step 2"]);
  expect(shown.rows(plan("completed", "inProgress", "pending"))).toEqual([]);
});

test("shows a file change with its diff, but not again after an approval [S0-102]", () => {
  const item = { type: "fileChange", id: "f", status: "completed", changes: [change] } as const;
  const head = "✓ Changed a.ts +1 −1";
  expect(new Shown().rows(completed({ ...item, changes: [change] }))).toEqual([
    head,
    "    @@ -1 +1 @@",
    "  1 -one",
    "  1 +two",
  ]);
  const action = { kind: "fileChange", itemId: "f", changes: [change] } as const;
  const approval = {
    id: "q",
    turnId: "turn",
    requestedAtMs: 0,
    expiresAtMs: 1,
    action: { ...action, changes: [change] },
  };
  const resolution = { decision: { outcome: "allow", scope: "once" }, by: "client" } as const;
  const rows = new Shown().rows(
    { type: "approval/requested", data: { threadId: "thread", approval } },
    { type: "approval/resolved", data: { ...ids, approvalId: "q", itemId: "f", resolution } },
    completed({ ...item, changes: [change] }),
  );
  expect(rows).toEqual(["→ allowed once", head]);
});

test("the time of a command begins once it is allowed", () => {
  const action = { kind: "command", itemId: "c", command: "npm test", cwd: "/repo" } as const;
  const approval = { id: "q", turnId: "turn", requestedAtMs: 0, expiresAtMs: 1, action };
  const resolution = { decision: { outcome: "allow", scope: "once" }, by: "client" } as const;
  const shown = new Shown();
  shown.rows(started({ ...command, status: "inProgress" }));
  shown.rows({ type: "approval/requested", data: { threadId: "thread", approval } });
  shown.now = 60_000;
  shown.rows({ type: "approval/resolved", data: { ...ids, approvalId: "q", itemId: "c", resolution } });
  shown.now = 62_000;
  expect(shown.live().at(-1)).toBe("● $ npm test  2.0s");
  const rows = shown.rows(completed({ ...command, status: "completed", exitCode: 0 }));
  expect(rows.at(-1)).toBe("✓ $ npm test  2.0s");
});

test("shows that an approval was not answered in time", () => {
  const approval = {
    id: "q",
    turnId: "turn",
    requestedAtMs: 0,
    expiresAtMs: 1,
    action: { kind: "command", itemId: "c", command: "make", cwd: "/" } as const,
  };
  const shown = new Shown();
  shown.rows({ type: "approval/requested", data: { threadId: "thread", approval } });
  expect(shown.timeline.activity).toBe("Waiting for an answer");
  const resolution = { decision: { outcome: "deny", scope: "once" }, by: "timeout" } as const;
  expect(
    shown.rows({ type: "approval/resolved", data: { ...ids, approvalId: "q", itemId: "c", resolution } }),
  ).toEqual(["→ declined: no answer in time"]);
});

test("folds thoughts after their first lines", () => {
  const shown = new Shown();
  shown.rows(started({ type: "reasoning", id: "r" }), thought("r", "First.\nSecond"));
  expect([shown.live(), shown.timeline.activity]).toEqual([["✻ Second"], "Thinking"]);
  shown.now = 1_500;
  const content = "First.\nSecond.\nThird.\nFourth.\nFifth.";
  expect(shown.rows(completed({ type: "reasoning", id: "r", content }))).toEqual([
    "✻ Thought for 1.5s: First.",
    "  Second.",
    "  Third.",
    "  … 2 more lines",
  ]);
});

test("shows a tool call on one line, with its progress and error", () => {
  const call = {
    type: "mcpToolCall",
    id: "t",
    server: "github",
    tool: "search",
    arguments: { q: 1 },
  } as const;
  const shown = new Shown();
  shown.rows(started({ ...call, status: "inProgress" }), {
    type: "item/mcpToolCall/progress",
    data: { ...ids, itemId: "t", message: "page 2" },
  });
  expect(shown.live()).toEqual(["● github.search q 1", "  page 2"]);
  expect(shown.rows(completed({ ...call, status: "failed", error: "no\nway", durationMs: 20 }))).toEqual([
    "✗ github.search q 1  0.0s",
    "  no",
    "  way",
  ]);
});

test("shows retries, warnings and a switch of the model", () => {
  const rows = new Shown().rows(
    { type: "error", data: { ...ids, error: { message: "429" }, willRetry: true } },
    { type: "warning", data: { threadId: "thread", message: "careful", reason: "x" } },
    { type: "model/rerouted", data: { ...ids, fromModel: "a", toModel: "b", reason: "busy" } },
  );
  expect(rows).toEqual(["↻ 429 (retrying)", "! careful", "→ Using b instead of a: busy"]);
});

test("shows an item of an unknown type with its id and text [S0-88, S0-89]", () => {
  const hologram = { type: "hologram", id: "h-1", text: "a cube" };
  expect(new Shown().rows(completed(hologram))).toEqual(["● hologram h-1 a cube"]);
});

test("does not repeat the prompt, but shows later input", () => {
  const message = (id: string, text: string): AgentEvent =>
    completed({ type: "userMessage", id, content: [{ type: "text", text }] });
  expect(new Shown().rows(message("1", "do it"), message("2", "and faster"))).toEqual(["› and faster"]);
});

test("fits a narrow terminal without Unicode", () => {
  const shown = new Shown(20, false);
  const output = "a very long line of output that goes on\n";
  const rows = [
    ...shown.rows(started({ ...command, status: "inProgress" }), printed("c", output)),
    ...shown.live().map((row) => row),
    ...shown.rows(
      completed({ ...command, command: "npm run a-very-long-name", status: "completed", exitCode: 0 }),
    ),
    ...shown.rows(
      plan("completed", "inProgress", "failed"),
      completed({ type: "contextCompaction", id: "x" }),
    ),
  ];
  expect(rows.filter((row) => row.length > 20)).toEqual([]);
  expect(rows.join("\n")).toMatch(/^[\x20-\x7e\n]*$/);
  expect(rows).toContain("  a very long lin...");
});

test("escapes control characters from agents and commands [P36]", () => {
  const evil = "\u001b]52;c;aGk=\u0007\u001b[2J\u001b]8;;http://x\u0007\r\u202e\u200b";
  const unknown = { type: evil, id: "h", text: evil };
  const shown = new Shown(200);
  const rows = [
    ...shown.rows(started({ ...command, command: evil, status: "inProgress" }), printed("c", `${evil}\n`)),
    ...shown.live(),
    ...shown.rows(completed({ ...command, command: evil, status: "completed", exitCode: 0 })),
    ...shown.rows(completed({ type: "agentMessage", id: "m", text: evil })),
    ...shown.rows(
      completed({ type: "toolCall", id: "t", tool: evil, title: evil, status: "failed", error: evil }),
    ),
    ...shown.rows(
      completed({
        type: "fileChange",
        id: "f",
        status: "completed",
        changes: [{ ...change, path: evil, diff: `@@ @@\n+${evil}` }],
      }),
    ),
    ...shown.rows(completed({ type: "webSearch", id: "w", query: evil })),
    ...shown.rows(completed(unknown)),
    ...shown.rows(
      started({ type: "mcpToolCall", id: "p", server: evil, tool: evil, status: "inProgress" }),
      { type: "item/mcpToolCall/progress", data: { ...ids, itemId: "p", message: evil } },
      started({ type: "reasoning", id: "r" }),
      thought("r", evil),
      {
        type: "turn/plan/updated",
        data: { ...ids, explanation: evil, plan: [{ step: evil, status: "pending" }] },
      },
    ),
    ...shown.live(),
    ...shown.rows({ type: "warning", data: { threadId: "thread", message: evil, reason: "x" } }),
  ];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(rows.filter((row) => /[\u0000-\u001f\u007f-\u009f\u202e\u200b]/.test(row))).toEqual([]);
  expect(rows.join("\n")).toContain("\\u{1b}]52;c;aGk=\\u{7}");
});
