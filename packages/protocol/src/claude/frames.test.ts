import { expect, test } from "vitest";
import { blocksOf, decodeClaudeFrame, errorResponseLine, requestLine, userLine } from "./index.ts";

const decode = (frame: unknown) => decodeClaudeFrame(JSON.stringify(frame));

test("a frame passes unknown fields through, wherever its type is", () => {
  const frame = {
    session_id: "s",
    extra: { deep: [1] },
    is_error: false,
    subtype: "success",
    type: "result",
  };
  expect(decode(frame)).toEqual({ ok: true, frame });
});

test("a frame of an unknown type is passed through whole", () => {
  const fields = { type: "ui_invalidate", what: "all" };
  expect(decode(fields)).toEqual({ ok: true, frame: { type: "unknown", name: "ui_invalidate", fields } });
});

test.each([
  "",
  "Warning: old",
  "[1]",
  "null",
  '{"a":1}',
  '{"type":"assistant"}',
  '{"type":"assistant","message":{}}',
])("the line %j is rejected with the reason", (line) => {
  expect(decodeClaudeFrame(line)).toEqual({ ok: false, reason: expect.stringMatching(/\S/) });
});

test("a message of plain text is one block of text", () => {
  expect(blocksOf({ content: "hello" })).toEqual([{ type: "text", text: "hello" }]);
});

test("[S3-47] [S3-48] each message to Claude is one line of a known type", () => {
  const text = "two\nlines";
  const lines = [
    userLine([{ type: "text", text }], "u"),
    requestLine("r", { subtype: "interrupt" }),
    errorResponseLine("r", "why"),
  ];
  expect(lines.join("").includes("\n")).toBe(false);
  const message = { role: "user", content: [{ type: "text", text }] };
  expect(JSON.parse(lines[0] ?? "")).toEqual({ type: "user", message, parent_tool_use_id: null, uuid: "u" });
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(["user", "control_request", "control_response"]);
});
