import type { DriverEvent } from "@flint/core/ports";
import { decodeClaudeFrame } from "@flint/protocol/claude";
import { expect, test } from "vitest";
import { NO_INPUT, scanInput } from "../../shared/streamed-input.ts";
import { step } from "../translate.ts";
import { beginTurn } from "./state.ts";

const CHANGES = [{ path: "a.txt", kind: "add" as const, diff: "+one\n" }];

/** The events of a file tool whose input comes in these parts, and then complete. */
function streamed(name: string, parts: readonly string[], changes = new Map([["t1", CHANGES]])) {
  const stream = (event: object) => ({ type: "stream_event", event });
  const frames = [
    stream({ type: "message_start", message: { id: "m" } }),
    stream({ type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t1", name } }),
    ...parts.map((partial_json) =>
      stream({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } }),
    ),
    {
      type: "assistant",
      message: {
        id: "m",
        content: [{ type: "tool_use", id: "t1", name, input: JSON.parse(parts.join("")) }],
      },
    },
  ];
  let state = beginTurn("turn", "/repo");
  const events: DriverEvent[] = [];
  for (const frame of frames) {
    const decoded = decodeClaudeFrame(JSON.stringify(frame));
    if (!decoded.ok) throw new Error("Not a frame.");
    const [next, emitted] = step(state, decoded.frame, changes);
    state = next;
    events.push(...emitted);
  }
  return { state, events };
}

const patchOf = (events: readonly DriverEvent[]) =>
  events.flatMap((event) => (event.type === "item/fileChange/outputDelta" ? [event.delta] : []));

test("streams a file as it is written, and its changes once they are known [S0-58] [S2-39]", () => {
  const { state, events } = streamed("Write", [
    ...['{"file_', 'path":"/repo/a.txt","con', 'tent":"one\\', "ntwo \\u00", 'e4\\n", "x":{"content":"no"}}'],
  ]);
  expect(patchOf(events)).toEqual(["+++ b/a.txt\n+one", "\n+two ", "\u00e4\n"]);
  const itemId = state.tools.get("t1")?.itemId ?? "";
  expect(events[0]).toEqual({
    type: "item/started",
    item: { type: "fileChange", id: itemId, changes: [], status: "inProgress" },
  });
  expect(events.at(-1)).toEqual({ type: "item/fileChange/patchUpdated", itemId, changes: CHANGES });
  expect(events.filter(({ type }) => type === "item/started")).toHaveLength(1);
  expect(state.tools.get("t1")).toMatchObject({ isDone: false, item: { changes: CHANGES } });
});

test("streams what an edit replaces and what with [S0-58]", () => {
  const input = JSON.stringify({ file_path: "/repo/a", old_string: "x\ny", new_string: "z" });
  expect(patchOf(streamed("Edit", [...input]).events).join("")).toBe("+++ b/a\n-x\n-y\n+z");
});

test("keeps the item of a change that cannot be shown", () => {
  const { state, events } = streamed("Write", ['{"file_path":"/repo/a","content":"one"}'], new Map());
  expect(events.map(({ type }) => type)).not.toContain("item/fileChange/patchUpdated");
  expect(state.tools.get("t1")).toMatchObject({ item: { type: "fileChange" }, input: { content: "one" } });
});

test("shows no other tool before its input is complete", () => {
  const { events } = streamed("Bash", ['{"command":"ls"}']);
  expect(events.map(({ type }) => type)).toEqual(["item/started"]);
});

test("finds the strings of an object wherever its JSON is cut", () => {
  const value = { a: 'x "\\ \u{1f525}', n: [1, { a: "no" }], b: "", c: "\t\r\b\f/ y" };
  const json = JSON.stringify(value).replace("\u{1f525}", "\\ud83d\\udd25");
  const read = (parts: readonly string[]) => {
    let scan = NO_INPUT;
    const found: Record<string, string> = {};
    for (const part of parts) {
      const [next, pieces] = scanInput(scan, part);
      scan = next;
      for (const { field, text } of pieces) found[field] = (found[field] ?? "") + text;
    }
    return found;
  };
  const expected = { a: value.a, c: value.c };
  expect(read([json])).toEqual(expected);
  expect(read([...json])).toEqual(expected);
  for (let cut = 1; cut < json.length; cut += 1)
    expect(read([json.slice(0, cut), json.slice(cut)])).toEqual(expected);
});
