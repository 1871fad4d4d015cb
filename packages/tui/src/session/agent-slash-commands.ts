import { isRecord } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import type { AgentCommand } from "../input/index.ts";

const UPDATE = "/available_commands_update";
const MAX_COMMANDS = 500;

/** The slash commands that an agent says it has. Undefined for events about something else. */
export function agentCommandsIn(event: AgentEvent): readonly AgentCommand[] | undefined {
  if (event.type !== "unknown" || !event.method.endsWith(UPDATE) || !isRecord(event.params)) return undefined;
  const { availableCommands } = event.params;
  if (!Array.isArray(availableCommands)) return undefined;
  return availableCommands.slice(0, MAX_COMMANDS).flatMap((each): AgentCommand[] => {
    if (!isRecord(each) || typeof each.name !== "string" || !/^\S{1,80}$/.test(each.name)) return [];
    return [{ name: each.name, description: typeof each.description === "string" ? each.description : "" }];
  });
}
