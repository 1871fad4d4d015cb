import type { AgentOptions } from "./agent-options.ts";

/** Whether an agent is on this machine and known to be let in by its models. Starts nothing. */
export async function isReady(options: AgentOptions): Promise<boolean> {
  if ((await options.hasAccess?.()) !== true) return false;
  return (await options.program()) !== undefined;
}
