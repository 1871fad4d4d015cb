export {
  DEFAULT_STATUS_LINE,
  DEFAULT_THEME,
  isStatusPart,
  isTheme,
  STATUS_PART_NAMES,
  STATUS_PARTS,
  type StatusPart,
  THEME_NAMES,
  THEMES,
  type Theme,
} from "./appearance.ts";
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
