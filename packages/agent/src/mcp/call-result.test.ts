import { expect, test } from "vitest";
import { readCallResult, readResourceResult } from "./call-result.ts";

test("formats structured content as JSON if there is no text", () => {
  expect(readCallResult({ structuredContent: { a: 1 } })).toEqual({
    isError: false,
    result: { content: [], structuredContent: { a: 1 } },
    text: '{"a":1}',
  });
  expect(readCallResult({ content: [{ type: "text", text: "t" }], structuredContent: [1] }).text).toBe("t");
});

test("reads a result of any shape", () => {
  for (const raw of [undefined, null, 7, [], {}, { content: "text" }, { content: [] }]) {
    expect(readCallResult(raw)).toMatchObject({ isError: false, text: "(no content)" });
  }
  expect(
    readCallResult({ content: [null, 7, { type: 7 }, { type: "text" }, { type: "resource" }] }).text,
  ).toBe(
    "[block that cannot be shown]\n[block that cannot be shown]\n[block that cannot be shown]\n\n[resource that cannot be shown]",
  );
  expect(readCallResult({ content: [], isError: "yes" }).isError).toBe(false);
});

test("limits the number of content blocks and notes it", () => {
  const content = Array.from({ length: 1000 }, () => ({ type: "text", text: "x" }));
  expect(readCallResult({ content }).text).toMatch(/\n\(800 more left out\)$/);
});

test("names audio and blobs with their size", () => {
  const content = [
    { type: "audio", mimeType: "audio/wav", data: "AAAA" },
    { type: "resource", resource: { uri: "a://b", blob: "AAAAAAAA" } },
  ];
  expect(readCallResult({ content })).toEqual({
    isError: false,
    result: {
      content: [
        { type: "audio", mimeType: "audio/wav", bytes: 3 },
        { type: "resource", resource: { uri: "a://b", type: "blob", mimeType: "unknown type", bytes: 6 } },
      ],
    },
    text: "[audio, audio/wav, about 3 bytes, not shown]\na://b [blob, unknown type, about 6 bytes, not shown]",
  });
});

test("reads a resource without contents", () => {
  expect(readResourceResult({ contents: [] }).text).toBe("(no content)");
  expect(readResourceResult({ contents: "x" }).result).toEqual({ contents: [] });
});
