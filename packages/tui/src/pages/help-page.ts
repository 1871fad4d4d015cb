import { commandOf, commandSections, type Keymap, usageOf } from "@flint/view/commands";
import { type Line, lineOf, span, wrapLine } from "../draw/line.ts";
import { Pager } from "./pager.ts";

const INTRODUCTION = [
  "Type a prompt and press Enter. While the agent works, Enter steers it and Tab queues the input for later.",
  "Escape interrupts; Escape twice goes back to an earlier prompt. / starts a command, @ names a file, ! runs a command.",
  "Finished rows are in the scrollback of your terminal. What you see here is live for every other client of the thread.",
];

/** Every command with its keys and what can be typed for it: the help page and the table of keys. */
export function helpPage(keymap: Keymap): Pager {
  return new Pager({
    title: "Help",
    lines: (look) => [
      ...INTRODUCTION.flatMap((text) => wrapLine(lineOf(text), look.columns - 1)),
      ...commandSections().flatMap(({ group, ids }): Line[] => [
        [],
        lineOf(group, "bold"),
        ...ids.map((id): Line => {
          const { title } = commandOf(id);
          const keys = keymap.keys[id].join(", ");
          const usage = usageOf(id) ?? "";
          return [span(`  ${keys.padEnd(24)} `, "cyan"), span(usage.padEnd(22), "bold"), span(` ${title}`)];
        }),
      ]),
      ...keymap.problems.map((problem) => lineOf(problem, "yellow")),
    ],
  });
}
