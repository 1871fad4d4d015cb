import { type AgentCommand, agentOfModel, type ThreadState } from "@flint/protocol";
import {
  COMMAND_IDS,
  type CommandContext,
  commandOf,
  isAvailable,
  type ListedArgument,
} from "@flint/view/commands";
import type { NameChoice } from "./completer.ts";

/** More commands of an agent than this are not offered. */
const MAX_COMMANDS = 500;

/** The slash commands of the agent that the next prompt goes to; those of another agent do not count. */
export function commandsOfAgent(state: ThreadState | undefined): readonly AgentCommand[] {
  const { agent, commands = [] } = state?.agentCommands ?? {};
  if (state === undefined || agent !== agentOfModel(state.settings.model)) return [];
  // A name with a space in it could not be typed as one word.
  return commands.filter(({ name }) => /^\S{1,80}$/.test(name)).slice(0, MAX_COMMANDS);
}

/** The commands that can be typed now: Flint's own, then the agent's. Of two with one name, Flint's is meant. */
export function commandChoices(
  context: CommandContext,
  agent: readonly AgentCommand[],
): readonly NameChoice[] {
  const own = COMMAND_IDS.flatMap((id): NameChoice[] => {
    const command = commandOf(id);
    if (command.slash === undefined || !isAvailable(command, context)) return [];
    const taken = command.arguments?.map(({ name, isRequired }) =>
      isRequired ? name.toUpperCase() : `[${name}]`,
    );
    const detail = [...(taken ?? []), command.title].join("  ");
    return [{ name: command.slash, detail, group: "Flint" }];
  });
  const names = new Set(own.map(({ name }) => name));
  const others = agent.filter(({ name }) => !names.has(name));
  const choices = others.map(({ name, hint, description }): NameChoice => {
    const detail = [hint, description].filter((each) => each !== undefined).join("  ");
    return { name, detail: detail === "" ? undefined : detail, group: "Agent" };
  });
  return [...own, ...choices];
}

/** The sources of an argument's values that are not in the table of commands. */
export type ArgumentChoices = Readonly<
  Partial<Record<ListedArgument, (typed: string) => readonly NameChoice[]>>
>;

/**
 * Returns the possible arguments of a command, given the text typed so far; empty if it is any text, or if
 * the command is not Flint's.
 */
export function argumentChoices(
  name: string,
  values: ArgumentChoices,
  typed = "",
): readonly NameChoice[] | "files" {
  const id = COMMAND_IDS.find((each) => commandOf(each).slash === name.toLowerCase());
  const [argument] = id === undefined ? [] : (commandOf(id).arguments ?? []);
  if (argument === undefined || argument.values.kind === "text") return [];
  if (argument.values.kind === "choice") return argument.values.choices.map((choice) => ({ name: choice }));
  return argument.values.kind === "file" ? "files" : (values[argument.values.kind]?.(typed) ?? []);
}
