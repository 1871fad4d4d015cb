import { COMMAND_IDS, commandOf } from "@flint/view/commands";
import { expect, test } from "vitest";
import { keyLabel } from "./key-label.ts";

test.each([
  ["ctrl+alt+x", "Ctrl+Alt+X"],
  ["escape escape", "Esc Esc"],
  ["shift+tab", "Shift+Tab"],
  ["alt+up", "Alt+\u2191"],
  ["pageup", "PgUp"],
  ["f12", "F12"],
  ["ctrl++", "Ctrl++"],
  ["+", "+"],
  ["?", "?"],
])("%s is shown as %s", (chord, label) => expect(keyLabel(chord)).toBe(label));

test("has only ASCII characters where others cannot be drawn", () => {
  for (const chord of COMMAND_IDS.flatMap((id) => commandOf(id).keys))
    expect(keyLabel(chord, false)).toMatch(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/);
});
