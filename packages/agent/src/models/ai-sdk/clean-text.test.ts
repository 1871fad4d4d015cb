import fc from "fast-check";
import { expect, test } from "vitest";
import { CleanStream, cleanJson, cleanText, displayUrl, redact } from "./clean-text.ts";

test("replaces lone surrogates and NUL", () => {
  expect(cleanText("a\ud83d b\udc00 c\0 d\ud83d\ude00 \u001b[31m")).toBe(
    "a\ufffd b\ufffd c\ufffd d\ud83d\ude00 \u001b[31m",
  );
  expect(cleanJson({ "k\0": ["\ud83d", { deep: "\udc00" }], n: 1, z: null })).toEqual({
    "k\ufffd": ["\ufffd", { deep: "\ufffd" }],
    n: 1,
    z: null,
  });
});

const UNIT = fc.constantFrom("a", "\0", "\ud83d", "\ude00", "\ud83d\ude00");

test("cleans split text like the whole", () => {
  fc.assert(
    fc.property(fc.array(UNIT), fc.array(fc.nat(5)), (units, cuts) => {
      const text = units.join("");
      const stream = new CleanStream();
      let rest = text;
      let out = "";
      for (const cut of cuts) {
        out += stream.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      expect(out + stream.push(rest) + stream.end()).toBe(cleanText(text));
    }),
  );
});

test("removes given keys and what looks like a key", () => {
  const texts = [
    "Incorrect key: my-own-secret.",
    "Incorrect API key provided: sk-proj-abc***********xyz.",
    "x-api-key sk-ant-api03-AAAAAAAAAAAA",
    "Authorization: Bearer abcdefghijklmnop",
    "key AIzaSyA1234567890abcdefghijkl",
    "gsk_1234567890abcdef",
  ];
  for (const text of texts) {
    const shown = redact(text, ["my-own-secret"]);
    expect(shown).toContain("[key]");
    expect(shown).not.toMatch(/my-own-secret|abc\*|AAAA|abcdefghijklmnop|AIza|gsk_/);
  }
  expect(redact("The task-force asks for a risk-assessment.", ["", "a"])).toBe(
    "The task-force asks for a risk-assessment.",
  );
});

test("shows an address without a scheme as it was given, without credentials", () => {
  expect(displayUrl("localhost:99/v1?key=1")).toBe("localhost:99/v1");
  expect(displayUrl("user:secret@host/v1")).toBe("host/v1");
});
