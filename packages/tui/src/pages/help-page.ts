import { type CommandId, commandOf, commandSections, type Keymap, usageOf } from "@flint/view/commands";
import { type Line, lineOf, span, wrapLine } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { keyLabel } from "../input/index.ts";
import { keyIn } from "./key-name.ts";
import { Pager } from "./pager.ts";

function introduction(look: RenderOptions): string[] {
  const [send, queue] = [keyIn(look, "send"), keyIn(look, "queueInput")];
  const [interrupt, back] = [keyIn(look, "interruptTurn"), keyIn(look, "rewindThread")];
  return [
    `Type a prompt and press ${send}. While the agent works, ${send} steers it and ${queue} queues the input for later.`,
    `${interrupt} interrupts the turn, even in a menu or page; ${back} goes back to an earlier prompt. / starts a command, @ names a file, ! runs a command.`,
    "Finished output is in your terminal's scrollback. Other clients of the thread see everything live.",
  ];
}

/** Narrower terminals have the keys of a command on a row of their own. */
const WIDE = 80;
const [USAGE_COLUMNS, KEY_COLUMNS] = [26, 22];

/** Every command with its keys and what can be typed for it: the help page and the table of keys. */
export function helpPage(keymap: Keymap): Pager {
  return new Pager({
    title: "Help",
    lines: (look) => [
      ...introduction(look).flatMap((text) => wrapLine(lineOf(text), look.columns - 1)),
      ...commandSections().flatMap(({ group, ids }): Line[] => [
        [],
        lineOf(group, "bold"),
        ...ids.flatMap((id) => commandRows(id, keymap, look)),
      ]),
      ...keymap.problems.map((problem) => lineOf(problem, "yellow")),
    ],
  });
}

/** Shows the text to type for a command, the keys that do the same, and its description. */
function commandRows(id: CommandId, keymap: Keymap, look: RenderOptions): Line[] {
  const keys = keymap.keys[id].map((chord) => keyLabel(chord, look.unicode)).join(", ");
  const usage = usageOf(id) ?? "";
  const { title } = commandOf(id);
  if (look.columns < WIDE) {
    const names = [usage, keys].filter((text) => text !== "").join("  ");
    return [
      ...wrapLine([span("  "), span(names, "cyan")], look.columns - 1, 2),
      ...wrapLine([span(`    ${title}`)], look.columns - 1, 4),
    ];
  }
  const head = [
    span(`  ${usage.padEnd(USAGE_COLUMNS)}`, "bold"),
    span(` ${keys.padEnd(KEY_COLUMNS)} `, "cyan"),
  ];
  return wrapLine([...head, span(title)], look.columns - 1, USAGE_COLUMNS + KEY_COLUMNS + 4);
}
