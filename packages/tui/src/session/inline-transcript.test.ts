import { emptyThread, type ThreadItem, type ThreadState, type Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { lineOf, textOf } from "../draw/line.ts";
import { InlineTranscript } from "./inline-transcript.ts";

const LOOK = { columns: 80, rows: 24, colour: false, unicode: true };

function transcript(now = { ms: 0 }): InlineTranscript {
  return new InlineTranscript({ look: () => LOOK, now: () => now.ms, how: "Ctrl+O shows all" });
}

function stateOf(
  items: readonly ThreadItem[],
  open: readonly string[],
  rest: Partial<Turn> = {},
): ThreadState {
  const turn: Turn = { id: "turn", status: "inProgress", items: [...items], ...rest };
  const isOver = turn.status !== "inProgress";
  return {
    ...emptyThread("thread"),
    ...{ turns: [turn], activeTurnId: isOver ? undefined : "turn", openItemIds: [...open] },
  };
}

function taken(of: InlineTranscript, state: ThreadState): { final: string[]; live: string[] } {
  const { final, live } = of.take(state);
  return { final: final.map(textOf), live: live.map(textOf) };
}

const call = (status: "inProgress" | "completed"): ThreadItem => ({
  ...{ type: "toolCall", id: "call", tool: "Task", arguments: { description: "look around" }, status },
});
const step: ThreadItem = {
  ...{ type: "commandExecution", id: "step", command: "ls", cwd: "/", status: "completed" },
  _meta: { parentItemId: "call" },
};
const words: ThreadItem = {
  ...{ type: "subAgentMessage", id: "words", text: "I look.\nI found it." },
  _meta: { parentItemId: "call" },
};

test("what is asked next comes below the command that was asked about before, also in one frame", () => {
  const inline = transcript();
  const command = (status: "inProgress" | "completed"): ThreadItem => ({
    ...{ type: "commandExecution", id: "first", command: "make", cwd: "/", status },
  });
  const text: ThreadItem = { type: "agentMessage", id: "text", text: "Now the file." };
  inline.put({ head: [lineOf("May make run?")] }, "first");
  inline.saw("first");
  taken(inline, stateOf([command("inProgress")], ["first"]));
  inline.put({ head: [lineOf("allowed once")] });
  inline.put({ head: [lineOf("May the file change?")] }, "second");
  inline.saw("second");
  const { final } = taken(inline, stateOf([command("completed"), text], []));
  const rows = final.filter((row) => row !== "");
  expect(rows).toEqual(["allowed once", "✓ $ make", "Now the file.", "May the file change?"]);
});

test("the task list stands apart from what is in progress above it", () => {
  const list: ThreadItem = {
    ...{ type: "plan", id: "list", text: "1. build", entries: [{ step: "build", status: "inProgress" }] },
  };
  const { live } = taken(transcript(), stateOf([list, call("inProgress")], ["list", "call"]));
  expect(live).toEqual(["● Task look around", "", "Plan", "  ▸ build"]);
});

test("the steps of a sub-agent are below its call while it works, and counted once it is done", () => {
  const inline = transcript();
  const working = taken(inline, stateOf([call("inProgress"), step, words], ["call", "words"]));
  expect(working).toEqual({ final: [], live: ["● Task look around", "  ✓ $ ls", "  ● I found it."] });
  const done = taken(inline, stateOf([call("completed"), step, words], []));
  expect(done).toEqual({ final: ["✓ Task look around 2 steps"], live: [] });
});

test("a call in progress says how far it is, and how long it has been running", () => {
  const now = { ms: 0 };
  const inline = transcript(now);
  const tool: ThreadItem = {
    ...{ type: "mcpToolCall", id: "call", server: "web", tool: "crawl", status: "inProgress" },
  };
  expect(taken(inline, stateOf([tool], ["call"])).live).toEqual(["● web.crawl"]);
  inline.progress("call", "page 3 of 9");
  now.ms = 12_400;
  expect(taken(inline, stateOf([tool], ["call"])).live).toEqual(["● web.crawl page 3 of 9  12s"]);
});

test("a turn ends with its time without the user's own, and with what it used", () => {
  const inline = transcript();
  const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 0 });
  const running = stateOf([], []);
  taken(inline, { ...running, usage: usage(1_000), cost: { amount: 1, currency: "USD" } });
  const ended = stateOf([], [], { status: "completed", durationMs: 70_000, waitedMs: 60_000 });
  const { final } = taken(inline, {
    ...{ ...ended, usage: usage(3_500), usageTurnId: "turn", cost: { amount: 1.25, currency: "USD" } },
  });
  expect(final).toEqual(["✓ Done in 10s · waited 1m 00s for you · 2.5k tokens · $0.250"]);
});

test("a change that was seen in an approval is not drawn again, and long output says how to see all", () => {
  const inline = transcript();
  inline.saw("change");
  const diff = "@@ -1,1 +1,1 @@\n-a\n+b\n";
  const change: ThreadItem = {
    ...{ type: "fileChange", id: "change", status: "completed" },
    changes: [{ path: "/a.ts", kind: "modify", diff }],
  };
  const long: ThreadItem = {
    ...{ type: "commandExecution", id: "long", command: "seq 40", cwd: "/", status: "completed" },
    aggregatedOutput: Array.from({ length: 40 }, (_, at) => String(at + 1)).join("\n"),
  };
  const { final } = taken(inline, stateOf([change, long], []));
  expect(final.filter((line) => line.includes("+b"))).toEqual([]);
  expect(final.filter((line) => line.includes("a.ts"))).toEqual(["✓ Changed a.ts +1 −1"]);
  expect(final).toContain("  … 30 more lines (Ctrl+O shows all)");
});

test("of a long thread only the end is printed", () => {
  const items = (count: number): ThreadItem[] =>
    Array.from({ length: count }, (_, at) => ({ type: "agentMessage", id: `m${at}`, text: `message ${at}` }));
  const inline = transcript();
  const state = stateOf(items(10_000), [], { status: "completed" });
  expect(inline.begin(state)).toBe(0);
  const { final } = taken(inline, state);
  expect(final.length).toBeLessThan(500);
  expect(final.at(-1)).toBe("message 9999");
});

test("what is asked in a thread is not asked in the next one", () => {
  const inline = transcript();
  const message: ThreadItem = { type: "agentMessage", id: "m", text: "Begun.\n\nNot fin" };
  taken(inline, stateOf([message], ["m"]));
  inline.put({ head: [lineOf("Connected again.")] });
  inline.put({ head: [lineOf("Allow it?")] }, "command");
  inline.leave();
  const { final } = taken(inline, { ...emptyThread("other") });
  expect(final.filter((line) => line !== "")).toEqual(["Connected again."]);
});

test("the clock of a turn stands still while the user is waited for", () => {
  const now = { ms: 10_000 };
  const inline = transcript(now);
  const running = stateOf([], [], { startedAtMs: 4_000 });
  expect(inline.workedMs(running)).toBe(6_000);
  const questions = [
    { id: "q", turnId: "turn", itemId: "i", questions: [], requestedAtMs: 11_000, expiresAtMs: 0 },
  ];
  now.ms = 50_000;
  expect(inline.workedMs({ ...running, questions })).toBe(7_000);
  expect(inline.workedMs(running)).toBe(7_000);
  now.ms = 52_000;
  expect(inline.workedMs(running)).toBe(9_000);
});

test("what is asked comes below the message that leads to it, and the answer above what was asked about", () => {
  const inline = transcript();
  const message: ThreadItem = { type: "agentMessage", id: "message", text: "I run it." };
  const prompt: ThreadItem = { type: "userMessage", id: "prompt", content: [{ type: "text", text: "go" }] };
  const command = (status: "inProgress" | "completed"): ThreadItem => ({
    ...{ type: "commandExecution", id: "command", command: "make", cwd: "/", status },
  });
  inline.put({ head: [lineOf("Allow it?")] });
  inline.saw("command");
  const asked = taken(inline, stateOf([prompt, message, command("inProgress")], ["command"]));
  expect(asked.final.filter((line) => line !== "")).toEqual(["› go", "I run it.", "Allow it?"]);
  inline.put({ head: [lineOf("allowed once")] });
  const done = taken(inline, stateOf([prompt, message, command("completed")], []));
  expect(done.final.filter((line) => line !== "")).toEqual(["allowed once", "✓ $ make"]);
});
