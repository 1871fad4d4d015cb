/**
 * The place in which the keys of a command work. Its own meaning of a key goes before the one everywhere,
 * unless the command goes first.
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

/** A condition that must be met for a command to make sense. */
export type Condition = "thread" | "turns" | "idle" | "running" | "queued" | "waiting";

/** The argument of a command after its name. */
export interface CommandArgument {
  readonly name: string;
  readonly isRequired: boolean;
  /** The source of completions; `text` has none. */
  readonly values: ArgumentValues;
}

/** Kinds of arguments whose values only a session can list. */
export type ListedArgument =
  | ("thread" | "turn" | "model" | "agent" | "permissions")
  | ("process" | "task" | "control" | "statusParts" | "configKey" | "agentChange");

/** The source of completions for an argument. */
export type ArgumentValues =
  | { readonly kind: "text" | "file" | ListedArgument }
  | { readonly kind: "choice"; readonly choices: readonly string[] };

/** A command of a session: one row of the palette, the help page and the table of keys. */
export interface Command {
  /** Description of its effect, as a verb phrase. */
  readonly title: string;
  readonly group: CommandGroup;
  /** The place in which its keys work; commands without keys are in the palette all the same. */
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

/** Reports whether a command makes sense in a context. */
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

/** Returns the reason a command makes no sense in a context; undefined if it does. */
export function reasonUnavailable(
  { when = [] }: Pick<Command, "when">,
  context: CommandContext,
): string | undefined {
  const missing = when.find((condition) => !context[condition]);
  return missing === undefined ? undefined : REASONS[missing];
}
