import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommandContext, KeyContext } from "./command.ts";
import { commandFor, keymapOf, readChord } from "./keymap.ts";
import { COMMAND_IDS, type CommandId, commandOf } from "./table.ts";

const idle: CommandContext = {
  thread: true,
  turns: true,
  idle: true,
  running: false,
  queued: false,
  waiting: false,
};
const running: CommandContext = { ...idle, idle: false, running: true };

function meaning(chord: string, place: KeyContext, context: CommandContext): CommandId | undefined {
  return commandFor(keymapOf(), chord, place, context).id;
}

test("every default key is a key, and none means two things", () => {
  for (const id of COMMAND_IDS) {
    for (const chord of commandOf(id).keys) expect([id, readChord(chord)]).toEqual([id, chord]);
  }
  expect(keymapOf().problems).toEqual([]);
});

test.each([
  ["Ctrl+Return", "ctrl+enter"],
  ["shift+ctrl+a", "ctrl+shift+a"],
  ["G", "shift+g"],
  ["Alt+G", "alt+g"],
  ["Ctrl+Shift+G", "ctrl+shift+g"],
  ["Esc  Esc", "escape escape"],
  ["ctrl++", "ctrl++"],
  ["+", "+"],
  ["é", "é"],
  ["İ", "İ"],
])("%j is the key %j", (text, chord) => expect(readChord(text)).toBe(chord));

test.each([[""], ["ctrl+"], ["super+a"], ["ctrl+wheel"], ["ctrl+alt"], ["__proto__"], ["a ctrl+nope"]])(
  "%j is not a key",
  (text) => expect(readChord(text)).toBeUndefined(),
);

test("reading a key again changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 12 }), (text) => {
      const chord = readChord(text);
      if (chord !== undefined) expect(readChord(chord)).toBe(chord);
    }),
    { numRuns: 1_000 },
  );
});

test("Escape interrupts a running turn in every place, and closes what is in front once none is running", () => {
  for (const place of ["composer", "ask", "menu", "list", "pager"] as const)
    expect([place, meaning("escape", place, running)]).toEqual([place, "interruptTurn"]);
  expect(meaning("escape", "menu", idle)).toBe("menuCancel");
  expect(meaning("escape", "list", idle)).toBe("listClose");
  expect(meaning("escape", "pager", idle)).toBe("closePager");
  expect(meaning("escape", "composer", idle)).toBeUndefined();
  expect(commandFor(keymapOf(), "escape", "composer", idle).more).toBe(true);
  expect(meaning("escape escape", "composer", idle)).toBe("rewindThread");
});

test("Ctrl-C closes what is in front, and interrupts if that is nothing", () => {
  expect(meaning("ctrl+c", "menu", running)).toBe("menuCancel");
  expect(meaning("ctrl+c", "list", running)).toBe("listClose");
  expect(meaning("ctrl+c", "pager", running)).toBe("closePager");
  expect(meaning("ctrl+c", "composer", running)).toBe("interruptOrClose");
  expect(meaning("ctrl+c", "ask", running)).toBe("interruptOrClose");
  expect(meaning("ctrl+c", "composer", idle)).toBe("clearInput");
});

test("Tab queues the input while a turn runs, and completes otherwise", () => {
  expect(meaning("tab", "composer", running)).toBe("queueInput");
  expect(meaning("tab", "composer", idle)).toBe("complete");
});

test("the configuration replaces the keys of a command", () => {
  const keymap = keymapOf({ listThreads: ["F2"], quit: [] });
  expect(commandFor(keymap, "f2", "composer", idle).id).toBe("listThreads");
  expect(commandFor(keymap, "ctrl+t", "composer", idle).id).toBeUndefined();
  expect(commandFor(keymap, "ctrl+d", "composer", idle).id).toBeUndefined();
});

test("says what of the configuration has no effect", () => {
  expect(keymapOf({ fly: ["f2"], quit: ["ctrl+nope"], showHelp: ["ctrl+t"] }).problems).toEqual([
    '"fly" is not a command. /keys lists all of them.',
    '"ctrl+nope" (for quit) is not a key, such as ctrl+t or f2.',
    "ctrl+t is listThreads and showHelp.",
  ]);
});
