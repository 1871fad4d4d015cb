import fc from "fast-check";
import { expect, test } from "vitest";
import {
  boundedJson,
  cutMiddle,
  fits,
  readCallResult,
  readResourceResult,
  wellFormedObject,
} from "./call-result.ts";

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

test("cuts the middle out of a long text and notes how much is missing", () => {
  expect(cutMiddle("x".repeat(1000), 100)).toMatch(/^x{75}\n… 905 characters left out …\nx{20}$/);
});

test("cuts a value that is too large or too deep, and marks it", () => {
  expect(boundedJson({ a: ["b".repeat(100), 1, 2, 3] }, { depth: 9, characters: 20 })).toEqual({
    a: ["bbbbbbbbbbbbbbbb…", "… left out …"],
  });
  expect(boundedJson([[[1]]], { depth: 2, characters: 100 })).toEqual([["… left out …"]]);
});

test("copies a valid value unchanged, except for lone surrogates and __proto__", () => {
  const poisoned = JSON.parse('{"a\\ud800": [1, "b\\udc00", null, true], "__proto__": {"c": 1}}');
  expect(wellFormedObject(poisoned)).toEqual({ "a\ufffd": [1, "b\ufffd", null, true] });
});

test("bounds the copy of any value", () => {
  const bounds = { depth: 4, characters: 200 };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const copy = boundedJson(value, bounds);
      expect(fits(copy, { depth: 5, characters: 2000 })).toBe(true);
      if (fits(value, { depth: 4, characters: 20 }) && !JSON.stringify(value).includes("__proto__")) {
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      }
    }),
  );
});

test("checks a value of a hundred thousand levels", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(fits(deep, { depth: 64, characters: 1e6 })).toBe(false);
  expect(boundedJson(deep, { depth: 1, characters: 100 })).toEqual(["… left out …"]);
});
