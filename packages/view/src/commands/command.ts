/**
 * Where the keys of a command work. What a key means in a place of its own goes before what it means everywhere, unless the
 * command goes first.
 */
export type KeyContext = "everywhere" | "composer" | "menu" | "list" | "pager" | "ask";

/** The heading of a command on the help page and in the palette. */
export type CommandGroup =
  | "Threads"
  | "Agent"
  | "Turn"
  | "Show"
  | "Session"
  | "Editing"
  | "Navigation"
  | "Lists"
  | "Tasks"
  | "Answers";

/** What has to be the case for a command to make sense. */
export type Condition = "thread" | "turns" | "idle" | "running" | "queued" | "waiting";

/** What a command takes after its name. */
export interface CommandArgument {
  readonly name: string;
  readonly isRequired: boolean;
  /** Where completions come from; `text` has none. */
  readonly values: ArgumentValues;
}

/** What arguments can be that only a session can list. */
export type ListedArgument =
  | ("thread" | "turn" | "model" | "agent" | "permissions")
  | ("process" | "task" | "control" | "statusParts" | "configKey");

/** Where the completions of an argument come from. */
export type ArgumentValues =
  | { readonly kind: "text" | "file" | ListedArgument }
  | { readonly kind: "choice"; readonly choices: readonly string[] };

/** A command of a session: one row of the palette, the help page and the table of keys. */
export interface Command {
  /** What it does, as a verb phrase. */
  readonly title: string;
  readonly group: CommandGroup;
  /** Where its keys work; commands without keys are in the palette all the same. */
  readonly place: KeyContext;
  /** The default keys, in the notation of `readChord`; the first one is shown. */
  readonly keys: readonly string[];
  /** The name after `/`, for commands that can be typed. */
  readonly slash?: string | undefined;
  readonly arguments?: readonly CommandArgument[] | undefined;
  /** All of them have to hold. */
  readonly when?: readonly Condition[] | undefined;
  /** Set if it can do nothing without a server. */
  readonly needsServer?: true | undefined;
  /** Set if its keys mean this in every place, before what they mean there. */
  readonly isFirst?: true | undefined;
  /** Set if choosing it in a palette only begins to type it, because it would do too much without an argument. */
  readonly isTyped?: true | undefined;
  /** Set for what would make no sense in a palette, such as moving the cursor. */
  readonly isOnlyKey?: true | undefined;
}

/** State of the session that decides which commands are available. */
export type CommandContext = Readonly<Record<Condition, boolean>>;

/** Whether a command makes sense now. */
export function isAvailable({ when = [] }: Pick<Command, "when">, context: CommandContext): boolean {
  return when.every((condition) => context[condition]);
}

const REASONS: Readonly<Record<Condition, string>> = {
  thread: "no thread is open",
  turns: "the thread has no turns yet",
  idle: "a turn is running",
  running: "no turn is running",
  queued: "no input is queued",
  waiting: "no approval or question is open",
};

/** Why a command makes no sense now; undefined if it does. */
export function reasonUnavailable(
  { when = [] }: Pick<Command, "when">,
  context: CommandContext,
): string | undefined {
  const missing = when.find((condition) => !context[condition]);
  return missing === undefined ? undefined : REASONS[missing];
}
