import type { UserInput } from "@flint/protocol";
import { agentOf, type LegacyModels } from "../sessions/config-options.ts";

/** The commands that are there whatever agents there are. */
const COMMANDS = {
  duet: {
    description: "One agent does it, another reviews it and goes on",
    hint: "[agent] [agent] what to do",
  },
  model: { description: "Choose the agent and its model", hint: "model" },
  mode: { description: "Choose what the agent may do unasked", hint: "mode" },
  compact: { description: "Summarise the conversation to make room", hint: undefined },
  review: { description: "Have the uncommitted changes reviewed", hint: "what to look at" },
} as const;

/** A prompt that is for Flint: which command, and what the user wrote behind it. */
export type Command =
  | { readonly name: "agent"; readonly agent: string; readonly input: readonly UserInput[] }
  | { readonly name: "duet"; readonly agents: readonly string[]; readonly input: readonly UserInput[] }
  | { readonly name: "model" | "mode" | "review"; readonly argument: string }
  | { readonly name: "compact" };

const COMMAND = /^\/([A-Za-z0-9_-]+)(?:\s+|$)/;

/** The agents whose models are listed. */
export function agentsOf(modelIds: readonly string[]): readonly string[] {
  return [...new Set(modelIds.map(agentOf))];
}

/** A command that a client can offer its user. */
export interface OfferedCommand {
  readonly name: string;
  readonly description: string;
  /** What to write behind it; absent if it takes nothing. */
  readonly hint?: string | undefined;
}

/** The commands there are: one for each agent, and Flint's own. */
export function commandsFor({ availableModels }: LegacyModels): readonly OfferedCommand[] {
  const agents = agentsOf(availableModels.map(({ modelId }) => modelId)).map((name) => ({
    name,
    description: `Give this to ${name}, which goes on with the conversation`,
    hint: "what to do",
  }));
  return [...agents, ...Object.entries(COMMANDS).map(([name, told]) => ({ name, ...told }))];
}

/** The command that a prompt begins with. What is not one of ours is the agent's own, or only text. */
export function commandIn(input: readonly UserInput[], agents: readonly string[]): Command | undefined {
  const [first, ...others] = input;
  if (first?.type !== "text") return undefined;
  const found = COMMAND.exec(first.text.trimStart());
  if (found?.[1] === undefined) return undefined;
  const name = found[1];
  const rest = first.text.trimStart().slice(found[0].length).trim();
  if (name === "duet") return duet(rest, others, agents);
  if (agents.includes(name)) return { name: "agent", agent: name, input: withText(rest, others) };
  if (name === "model" || name === "mode" || name === "review") return { name, argument: rest };
  return name === "compact" ? { name } : undefined;
}

/** Up to two names of agents may stand before what is to be done. */
function duet(rest: string, others: readonly UserInput[], agents: readonly string[]): Command {
  const words = rest.split(/\s+/).slice(0, 2);
  const count = words.findIndex((word) => !agents.includes(word));
  const named = count === -1 ? words : words.slice(0, count);
  const text = named.reduce((left, name) => left.slice(name.length).trimStart(), rest);
  return { name: "duet", agents: named, input: withText(text, others) };
}

function withText(text: string, others: readonly UserInput[]): readonly UserInput[] {
  return text === "" ? others : [{ type: "text", text }, ...others];
}
