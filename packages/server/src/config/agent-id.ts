import { basename } from "node:path";

/** The id of an agent that is named by the command that starts it: the name of its program. */
export function agentId(commandLine: string): string {
  const [program = "agent"] = commandLine.trim().split(/\s+/);
  return basename(program).replaceAll(/[^A-Za-z0-9_-]/g, "-");
}
