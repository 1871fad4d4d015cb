import type { CommandContext, KeyContext } from "./command.ts";
import { isAvailable } from "./command.ts";
import { COMMAND_IDS, type CommandId, commandOf, isCommandId } from "./table.ts";

/** The keys that have names; any other key is its character. */
export const NAMED_KEYS = [
  ...["enter", "tab", "escape", "backspace", "delete", "insert", "space"],
  ...["up", "down", "left", "right", "home", "end", "pageup", "pagedown"],
  ...["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"],
] as const;

const MODIFIERS = ["ctrl", "alt", "shift"] as const;

/** Other spellings that people use. */
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ control: "ctrl", option: "alt", meta: "alt", return: "enter", esc: "escape", del: "delete" },
  ...{ pgup: "pageup", pgdn: "pagedown" },
};

/**
 * Reads keys in the notation of the configuration: modifiers and a key joined by `+`, several presses separated by spaces.
 * The result is the one spelling that is compared: `Ctrl+Return` is `ctrl+enter`. Undefined if it names no key.
 */
export function readChord(text: string): string | undefined {
  const presses = text.trim().split(/\s+/).map(readPress);
  return presses.includes(undefined) ? undefined : presses.join(" ");
}

function readPress(text: string): string | undefined {
  // The key itself may be a plus.
  const isPlus = text === "+" || text.endsWith("++");
  const parts = isPlus ? [...text.slice(0, -1).split("+").slice(0, -1), "+"] : text.split("+");
  const words = parts.map((part) => {
    const word = [...part].length === 1 ? part : part.toLowerCase();
    return (Object.hasOwn(SPELLINGS, word) ? SPELLINGS[word] : undefined) ?? word;
  });
  const name = words.pop() ?? "";
  const key = [...name].length === 1 || NAMED_KEYS.some((named) => named === name) ? name : undefined;
  if (key === undefined || !words.every((word) => MODIFIERS.some((modifier) => modifier === word)))
    return undefined;
  // A few letters have no single small one.
  const small = key.toLowerCase();
  const lower = [...key].length === 1 && [...small].length !== 1 ? key : small;
  // Keyboards show capitals, so `Ctrl+Q` is written for the plain letter too.
  const isCapital = key !== lower && words.length === 0;
  const held = MODIFIERS.filter(
    (modifier) => words.includes(modifier) || (modifier === "shift" && isCapital),
  );
  return [...held, lower].join("+");
}

/** The keys of each command, after the configuration. */
export interface Keymap {
  readonly keys: Readonly<Record<CommandId, readonly string[]>>;
  /** Problems with parts of the configuration that have no effect. */
  readonly problems: readonly string[];
}

/** The keys of all commands; `changes` replace the default keys of a command, and an empty list removes them. */
export function keymapOf(changes: Readonly<Record<string, readonly string[]>> = {}): Keymap {
  const problems: string[] = [];
  const keys = Object.fromEntries(COMMAND_IDS.map((id) => [id, commandOf(id).keys]));
  for (const [name, chosen] of Object.entries(changes)) {
    if (!isCommandId(name)) {
      problems.push(`"${name}" is not a command. /keys lists all of them.`);
      continue;
    }
    keys[name] = chosen.flatMap((text) => {
      const chord = readChord(text);
      if (chord === undefined) problems.push(`"${text}" (for ${name}) is not a key, such as ctrl+t or f2.`);
      return chord ?? [];
    });
  }
  // Made from COMMAND_IDS above, so that every command has its keys.
  const all = keys as Record<CommandId, readonly string[]>;
  return { keys: all, problems: [...problems, ...clashes(all)] };
}

/** Keys that mean two things in one place at the same time. */
function clashes(keys: Readonly<Record<CommandId, readonly string[]>>): string[] {
  const users = new Map<string, CommandId[]>();
  for (const id of COMMAND_IDS) {
    for (const chord of keys[id]) {
      const slot = `${commandOf(id).place} ${chord}`;
      users.set(slot, [...(users.get(slot) ?? []), id]);
    }
  }
  return [...users].flatMap(([slot, ids]) => {
    const unconditional = ids.filter((id) => (commandOf(id).when ?? []).length === 0);
    return unconditional.length < 2 ? [] : [`${slot.split(" ").slice(1).join(" ")} is ${ids.join(" and ")}.`];
  });
}

/**
 * The command for keys in a place, or `more` if they begin a longer sequence that is bound there. What has a condition
 * that holds goes before what has none, the place itself goes before `everywhere`, and what goes first before all of it.
 */
export function commandFor(
  { keys }: Keymap,
  chord: string,
  place: KeyContext,
  context: CommandContext,
): { readonly id?: CommandId | undefined; readonly more: boolean } {
  const here = COMMAND_IDS.filter((id) => isAvailable(commandOf(id), context));
  const rank = (id: CommandId) => {
    const { place: own, when = [], isFirst } = commandOf(id);
    return (isFirst === true ? 4 : 0) + (own === place ? 2 : 0) + (when.length > 0 ? 1 : 0);
  };
  const usable = here
    .filter((id) => commandOf(id).place === place || commandOf(id).place === "everywhere")
    .sort((left, right) => rank(right) - rank(left));
  return {
    id: usable.find((id) => keys[id].includes(chord)),
    more: usable.some((id) => keys[id].some((bound) => bound.startsWith(`${chord} `))),
  };
}
