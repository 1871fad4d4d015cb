import { expect, test } from "vitest";
import { redact } from "./redact.ts";

test("a given key is never shown, and neither is what looks like one", () => {
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
