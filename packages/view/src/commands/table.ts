import type { Command, CommandGroup } from "./command.ts";
import { KEY_COMMANDS } from "./key-commands.ts";
import { SESSION_COMMANDS } from "./session-commands.ts";

/** Every command of a session: palette, completion, help page and keys derive from it. */
export const COMMANDS = { ...SESSION_COMMANDS, ...KEY_COMMANDS } as const;

/** The name of a command, as the configuration of keys has it. */
export type CommandId = keyof typeof COMMANDS;

/** Every command id, in the order of the table. */
export const COMMAND_IDS: readonly CommandId[] = Object.keys(COMMANDS).filter(isCommandId);

/** Reports whether a name is that of a command. */
export function isCommandId(name: string): name is CommandId {
  return Object.hasOwn(COMMANDS, name);
}

/** The command with an id. */
export function commandOf(id: CommandId): Command {
  return COMMANDS[id];
}

/** The commands of a palette: all that are more than a key. */
export function paletteCommands(): readonly CommandId[] {
  return COMMAND_IDS.filter((id) => commandOf(id).isOnlyKey !== true);
}

/**
 * Reports whether choosing a command in a palette types it for the user to continue: without an argument it
 * does nothing, or too much.
 */
export function isTypedOut(id: CommandId): boolean {
  const { isTyped = false, arguments: taken = [] } = commandOf(id);
  return isTyped || taken.some(({ isRequired }) => isRequired);
}

/** A heading and its commands. */
export interface CommandSection {
  readonly group: CommandGroup;
  readonly ids: readonly CommandId[];
}

/** All commands under their headings, for a help page. */
export function commandSections(): readonly CommandSection[] {
  const groups = [...new Set(COMMAND_IDS.map((id) => commandOf(id).group))];
  return groups.map((group) => ({ group, ids: COMMAND_IDS.filter((id) => commandOf(id).group === group) }));
}

/** Returns the text to type for a command: `/rewind [turn]`; undefined if it cannot be typed. */
export function usageOf(id: CommandId): string | undefined {
  const { slash, arguments: taken = [] } = commandOf(id);
  if (slash === undefined) return undefined;
  const words = taken.map(({ name, isRequired }) => (isRequired ? name.toUpperCase() : `[${name}]`));
  return [`/${slash}`, ...words].join(" ");
}
