import type { FlintClient } from "@flint/sdk";
import { UsageError } from "../../command-line/command.ts";
import { unknownAgentHere } from "../../command-line/server-options.ts";

/** Rejects the name of an agent or model that no agent on this machine has, so that the task does not fail later. */
export async function checkAgents(client: FlintClient, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const problem = name.includes("/") ? undefined : await unknownAgentHere(name);
    if (problem === undefined) continue;
    const { data } = await client.call("model/list", {});
    if (!data.some(({ id }) => id.endsWith(`/${name}`))) throw new UsageError(problem);
  }
}
