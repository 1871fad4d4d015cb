export {
  type ArgumentValues,
  type Command,
  type CommandArgument,
  type CommandContext,
  type CommandGroup,
  type Condition,
  isAvailable,
  type KeyContext,
  type ListedArgument,
  reasonUnavailable,
} from "./command.ts";
export { commandFor, type Keymap, keymapOf, NAMED_KEYS, readChord } from "./keymap.ts";
export { nearest } from "./nearest.ts";
export { completeCommand, readCommand, type TypedCommand } from "./slash.ts";
export {
  DEFAULT_STATUS_LINE,
  isStatusPart,
  STATUS_PART_NAMES,
  STATUS_PARTS,
  type StatusPart,
} from "./status-line.ts";
export {
  COMMAND_IDS,
  COMMANDS,
  type CommandId,
  type CommandSection,
  commandOf,
  commandSections,
  isCommandId,
  isTypedOut,
  paletteCommands,
  usageOf,
} from "./table.ts";
export { DEFAULT_THEME, isTheme, THEME_NAMES, THEMES, type Theme } from "./themes.ts";
