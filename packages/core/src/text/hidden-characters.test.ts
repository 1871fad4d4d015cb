import { expect, test } from "vitest";
import { hasHiddenCharacters } from "./hidden-characters.ts";

test("what a person would not notice is found, and ordinary writing is left alone", () => {
  const hidden = [
    ...["a\u0000", "a\u001b[2K", "a\rb", "a\u0008", "a\u007f", "a\u009b", "a\u00adb", "a\u200bb", "a\u200db"],
    ...[
      "a\u202eb",
      "a\u2066b",
      "a\u061cb",
      "a\ufeffb",
      "a\u2060b",
      "a\u2028b",
      "a\u00a0b",
      "a\u3000b",
      "a\u2003b",
    ],
    ...["a\u2800b", "a\u3164b", "a\ufe0fb", "a\u{e0041}b", "a\u{e0100}b", "a\ud800b", "a\ue000b"],
  ];
  expect(hidden.filter((text) => !hasHiddenCharacters(text))).toEqual([]);
  const plain = [
    "",
    "ls -la",
    "a\tb\nc",
    "grüße aus Köln",
    "漢字 かな 한글",
    "عربي",
    "e\u0301",
    "😀 👍🏽",
    "→ ✓ “”",
  ];
  expect(plain.filter(hasHiddenCharacters)).toEqual([]);
});
