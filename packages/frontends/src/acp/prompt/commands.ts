import type { AgentCommand, UserInput } from "@flint/protocol";
import { agentOf, type LegacyModels } from "../sessions/config-options.ts";

/** The commands that do not depend on the agents. */
const COMMANDS = {
  duet: {
    description: "One agent does it, another reviews and improves it",
    hint: "[agent] [agent] task",
  },
  model: { description: "Choose the agent and its model", hint: "model" },
  mode: { description: "Choose what the agent may do without approval", hint: "mode" },
  compact: { description: "Summarise the conversation to free context", hint: undefined },
  review: { description: "Review the uncommitted changes", hint: "instructions" },
  goal: { description: "Work on a goal turn after turn until it is reached", hint: "goal, show or clear" },
  ps: { description: "List the commands that run in the background", hint: undefined },
  stop: { description: "Stop a background command, or all of them", hint: "process" },
} as const;

/** A prompt that is a command of Flint's own, with what the user wrote after it. */
export type Command =
  | { readonly name: "agent"; readonly agent: string; readonly input: readonly UserInput[] }
  | { readonly name: "duet"; readonly agents: readonly string[]; readonly input: readonly UserInput[] }
  | { readonly name: "model" | "mode" | "review" | "stop" | "goal"; readonly argument: string }
  | { readonly name: "compact" | "ps" };

const WITH_ARGUMENT = ["model", "mode", "review", "stop", "goal"] as const;
const PLAIN = ["compact", "ps"] as const;

const COMMAND = /^\/([A-Za-z0-9_-]+)(?:\s+|$)/;

/** The agents of these models. */
export function agentsOf(modelIds: readonly string[]): readonly string[] {
  return [...new Set(modelIds.map(agentOf))];
}

/** A command that clients offer the user. */
export interface OfferedCommand {
  readonly name: string;
  readonly description: string;
  /** A hint at the argument to write after it; absent if it takes none. */
  readonly hint?: string | undefined;
}

/** All commands: one per agent, Flint's own, and those of the agent at work that have another name. */
export function commandsFor(
  { availableModels }: LegacyModels,
  agentCommands: readonly AgentCommand[] = [],
): readonly OfferedCommand[] {
  const agents = agentsOf(availableModels.map(({ modelId }) => modelId)).map((name) => ({
    name,
    description: `Hand the conversation to ${name}`,
    hint: "task",
  }));
  const own = [...agents, ...Object.entries(COMMANDS).map(([name, command]) => ({ name, ...command }))];
  const taken = new Set<string>(own.map(({ name }) => name));
  const others = agentCommands.filter(({ name }) => !taken.has(name));
  return [
    ...own,
    ...others.map(({ name, description = "", hint }) => ({ name, description: description || name, hint })),
  ];
}

/** The command that a prompt starts with. Any other slash command is the agent's own, or just text. */
export function commandIn(input: readonly UserInput[], agents: readonly string[]): Command | undefined {
  const [first, ...others] = input;
  if (first?.type !== "text") return undefined;
  const found = COMMAND.exec(first.text.trimStart());
  if (found?.[1] === undefined) return undefined;
  const name = found[1];
  const rest = first.text.trimStart().slice(found[0].length).trim();
  if (name === "duet") return duet(rest, others, agents);
  if (agents.includes(name)) return { name: "agent", agent: name, input: withText(rest, others) };
  if (isOneOf(name, WITH_ARGUMENT)) return { name, argument: rest };
  return isOneOf(name, PLAIN) ? { name } : undefined;
}

function isOneOf<Name extends string>(name: string, names: readonly Name[]): name is Name {
  return names.some((known) => known === name);
}

/** Up to two agents may be named before the task. */
function duet(rest: string, others: readonly UserInput[], agents: readonly string[]): Command {
  const words = rest.split(/\s+/).slice(0, 2);
  const count = words.findIndex((word) => !agents.includes(word));
  const named = count === -1 ? words : words.slice(0, count);
  const task = named.reduce((left, name) => left.slice(name.length).trimStart(), rest);
  return { name: "duet", agents: named, input: withText(task, others) };
}

function withText(text: string, others: readonly UserInput[]): readonly UserInput[] {
  return text === "" ? others : [{ type: "text", text }, ...others];
}
