import { expect, test } from "vitest";
import { displayText, truncate } from "./display-text.ts";

test("truncates between characters, with an ellipsis", () => {
  expect(truncate("abc", 3)).toBe("abc");
  expect(truncate("abcd", 3)).toBe("ab…");
  expect(truncate("a😀b", 3)).toBe("a…");
});

test("removes what cannot be seen from untrusted text", () => {
  expect(displayText(" a\u001b[31mred\u202e\0\r\nb\tc\ud800 ", 100)).toBe("ared\nb\tc\ufffd");
});
