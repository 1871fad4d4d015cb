import { readdirSync, readFileSync } from "node:fs";
import { type ClaudeFrame, decodeClaudeFrame } from "@flint/protocol/claude";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeTextDelta } from "./connection.ts";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const IDS = { session_id: "5f0c7c1e-0001", parent_tool_use_id: null, uuid: "5f0c7c1e-0002" };

/** A line as Claude writes it. */
function lineOf(text: string, rest: object = IDS, index: unknown = 0): string {
  const delta = { type: "text_delta", text };
  return JSON.stringify({
    type: "stream_event",
    event: { type: "content_block_delta", index, delta },
    ...rest,
  });
}

function decoded(line: string): ClaudeFrame | undefined {
  const result = decodeClaudeFrame(line);
  return result.ok ? result.frame : undefined;
}

/** The same frame without the ids that are not read. */
function withoutIds(frame: ClaudeFrame | undefined) {
  if (frame?.type !== "stream_event") return undefined;
  const { session_id: _session, uuid: _uuid, ...rest } = frame;
  return rest;
}

describe("the short way for streamed text", () => {
  test("gives what the long way gives, whatever the text is", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.string({
        unit: fc.constantFrom('"', "\\", "\n", "\u0000", "\ud83d", "}", "u", "a"),
        maxLength: 20,
      }),
    );
    fc.assert(
      fc.property(text, (piece) => {
        const line = lineOf(piece);
        expect(decodeTextDelta(line)).toEqual(withoutIds(decoded(line)));
      }),
    );
  });

  test("applies to everything that the real Claude streamed as its answer, and to nothing else", () => {
    const files = readdirSync(FIXTURES).filter((name) => name.endsWith(".frames.jsonl"));
    const lines = files.flatMap((name) => readFileSync(new URL(name, FIXTURES), "utf8").trim().split("\n"));
    const streamed = lines.filter((line) => decodeTextDelta(line) !== undefined);
    const own = lines.filter((line) => line.includes('"text_delta"') && line.includes('_id":null'));
    expect(streamed).toEqual(own);
    expect(streamed.length).toBeGreaterThan(10);
    for (const line of streamed) expect(decodeTextDelta(line)).toEqual(withoutIds(decoded(line)));
  });

  test.each([
    ["of a sub-agent", lineOf("a", { ...IDS, parent_tool_use_id: "toolu_1" })],
    ["with a field that is new", lineOf("a", { ...IDS, later: 1 })],
    ["in another order", lineOf("a", { uuid: "1", session_id: "2", parent_tool_use_id: null })],
    ["with a second beginning of its end", lineOf("a").replace('"uuid"', '"uuid":"","uuid"')],
    ["that is cut off", lineOf("a").slice(0, -1)],
    ["with something behind it", `${lineOf("a")} `],
    ["with a bare control character", lineOf("a\tb").replace("\\t", "\t")],
    ["with an escape that there is not", lineOf("a\tb").replace("\\t", "\\x")],
    ["with a number that is none", lineOf("a", IDS, "0")],
    ["that is very long", lineOf("a".repeat(100_000))],
  ])("is not taken by a line %s", (_what, line) => {
    expect(decodeTextDelta(line)).toBeUndefined();
  });

  test("takes no longer than the line is long", () => {
    const before = process.cpuUsage();
    for (const piece of ["\\n", '"', "\\\\", '","uuid":"']) {
      for (const line of [lineOf(piece.repeat(3_000)), lineOf("a", { session_id: piece.repeat(3_000) })]) {
        for (let round = 0; round < 20; round += 1) decodeTextDelta(line.slice(0, -round));
      }
    }
    // Of this process: others that keep the machine busy do not count.
    const { user } = process.cpuUsage(before);
    expect(user / 1000).toBeLessThan(2_000);
  });
});
