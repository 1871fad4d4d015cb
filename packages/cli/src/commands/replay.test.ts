import type { TraceRecord } from "@flint/server/trace";
import { expect, test } from "vitest";
import { replay, replayed } from "./replay.ts";

type Line = Omit<TraceRecord, "at" | "stage"> & Partial<TraceRecord>;

/** Returns the output of the command for a trace of these lines, a millisecond apart. */
function shown(lines: readonly (Line | string)[], values: Parameters<typeof replayed>[2] = {}) {
  const texts = lines.map((line, index) =>
    typeof line === "string" ? line : JSON.stringify({ at: 1_000 + index, stage: "raw", ...line }),
  );
  return replayed(texts.map((text) => `${text}\n`).join(""), "trace.jsonl", values);
}

const json = JSON.stringify;

const RPC: readonly Line[] = [
  { agent: "codex", direction: "out", payload: json({ id: 1, method: "turn/start", params: { a: 1 } }) },
  { agent: "codex", direction: "in", payload: json({ method: "item/started", params: { id: "x" } }) },
  { agent: "codex", direction: "in", stage: "decoded", payload: "notification item/started" },
  { agent: "codex", direction: "in", payload: json({ id: 1, method: "approve", params: {} }) },
  { agent: "codex", direction: "in", payload: json({ id: 1, result: { ok: true } }) },
  { agent: "codex", direction: "out", payload: json({ id: 1, error: { code: 1 } }) },
];

test("prints requests, responses and notifications by name, with direction and time", () => {
  const { shown: stdout, exitCode: code } = shown(RPC);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    '   +0.000s → codex  turn/start #1  {"a":1}',
    '   +0.001s ← codex  item/started  {"id":"x"}',
    "   +0.003s ← codex  approve #1  {}",
    '   +0.004s ← codex  turn/start #1 answered  {"ok":true}',
    '   +0.005s → codex  approve #1 failed  {"code":1}',
    "",
  ]);
});

test("prints frames without a method by their types", () => {
  const frames = [
    { type: "control_request", request_id: "a", request: { subtype: "initialize" } },
    { type: "control_response", response: { subtype: "success" } },
    { type: "system", subtype: "init" },
    { type: "stream_event", event: { type: "content_block_delta" } },
    { type: "assistant", message: { content: [{ type: "text" }, { type: "tool_use" }, { type: "text" }] } },
    { type: "user", message: { content: "hello" } },
  ];
  const { shown: stdout } = shown(
    frames.map((frame) => ({ agent: "claude", direction: "in", payload: json(frame) })),
  );
  const names = stdout.split("\n").map((line) => line.split("  ").at(-2));
  expect(names.slice(0, -1)).toEqual([
    "control_request initialize",
    "control_response success",
    "system init",
    "stream_event content_block_delta",
    "assistant text+tool_use",
    "user",
  ]);
});

test("shortens long content unless --full is given, and escapes control characters", () => {
  const line: Line = { agent: "x", direction: "in", payload: `${"y".repeat(200)}\u001b[31m\nend` };
  const short = shown([line]).shown;
  expect(short).toContain(`${"y".repeat(120)}… (209 characters)`);
  expect(shown([line], { full: true }).shown).toContain(`${"y".repeat(200)}\\u{1b}[31m\\nend\n`);
  expect(shown(RPC, { full: true }).shown).toContain("decoded  notification item/started");
});

test("marks failures", () => {
  const { shown: stdout } = shown([{ agent: "x", direction: "in", stage: "failed", payload: "too long" }]);
  expect(stdout).toBe("   +0.000s ! x  failed  too long\n");
});

test("prints everything as JSON, and exactly what the agent sent as a fixture", () => {
  const { shown: stdout } = shown(RPC, { json: true });
  expect(JSON.parse(stdout)).toHaveLength(RPC.length);
  expect(JSON.parse(stdout)[4]).toMatchObject({ name: "turn/start #1 answered", elapsedMs: 4, stage: "raw" });
  const other: Line = { agent: "claude", direction: "in", payload: "{}" };
  const fixture = shown([...RPC, other], { fixture: true, agent: "codex" });
  expect(fixture.shown.split("\n")).toEqual([RPC[1]?.payload, RPC[3]?.payload, RPC[4]?.payload, ""]);
});

test("skips and reports invalid lines, and rejects a file that is not a trace", () => {
  expect(shown([...RPC.slice(0, 1), '{"at":1', "{}"])).toEqual({
    shown: '   +0.000s → codex  turn/start #1  {"a":1}\n',
    problem: "Skipped 2 lines of trace.jsonl that cannot be read; the first is line 2.",
    exitCode: 0,
  });
  expect(shown(["hello"])).toMatchObject({
    shown: "",
    problem: expect.stringContaining("is not a trace"),
    exitCode: 1,
  });
});

test("rejects wrong usage", async () => {
  await expect(replay({ values: {}, positionals: [] })).rejects.toThrow("replay needs a thread, or the file");
  await expect(replay({ values: {}, positionals: ["/none"] })).rejects.toThrow("Cannot read /none");
  const both = { json: true, fixture: true };
  await expect(replay({ values: both, positionals: ["x"] })).rejects.toThrow("cannot be used together");
});
