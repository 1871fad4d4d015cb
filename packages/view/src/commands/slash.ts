import { COMMAND_IDS, type CommandId, commandOf } from "./table.ts";

/** A typed command. */
export type TypedCommand =
  | { readonly type: "command"; readonly id: CommandId; readonly argument: string }
  /** A name that is not ours: the agent may know it. */
  | { readonly type: "unknown"; readonly name: string; readonly argument: string }
  /** One of ours without what it needs. */
  | { readonly type: "incomplete"; readonly id: CommandId; readonly missing: string };

const TYPED = /^\/(?<name>[a-z][\w:-]*)(?:\s+(?<argument>.*))?$/is;

/** Reads an input as a command; undefined if it is not one, such as a path or a message. */
export function readCommand(input: string): TypedCommand | undefined {
  const { name, argument = "" } = TYPED.exec(input.trim())?.groups ?? {};
  if (name === undefined) return undefined;
  const id = bySlash(name);
  if (id === undefined) return { type: "unknown", name, argument: argument.trim() };
  const missing = commandOf(id).arguments?.find(({ isRequired }) => isRequired);
  if (missing !== undefined && argument.trim() === "")
    return { type: "incomplete", id, missing: missing.name };
  return { type: "command", id, argument: argument.trim() };
}

function bySlash(name: string): CommandId | undefined {
  const requested = name.toLowerCase();
  return COMMAND_IDS.find((id) => commandOf(id).slash === requested);
}

/** The commands whose typed name begins with this, best first; all of them for an empty name. */
export function completeCommand(start: string): readonly CommandId[] {
  const requested = start.toLowerCase();
  const typed = COMMAND_IDS.filter((id) => commandOf(id).slash !== undefined);
  const begins = typed.filter((id) => commandOf(id).slash?.startsWith(requested));
  const contains = typed.filter((id) => !begins.includes(id) && matchesLoosely(id, requested));
  return [...begins, ...contains];
}

function matchesLoosely(id: CommandId, requested: string): boolean {
  const words = commandOf(id).title.toLowerCase().split(/\W+/);
  return words.some((word) => word.startsWith(requested));
}
