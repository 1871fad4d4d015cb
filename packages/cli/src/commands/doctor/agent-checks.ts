import { type AgentDescriptor, KNOWN_AGENTS } from "@flint/drivers";
import type { FlintClient } from "@flint/sdk";
import { type ConfiguredAgent, configuredAgents, UserConfig } from "@flint/server/config";
import { embed } from "@flint/server/embed";
import { userConfigPath } from "@flint/server/environment";
import { driftFindings, type Finding } from "./finding.ts";

/** Which agents are on this machine, in which version, and whether they can answer. */
export async function agents(cwd: string): Promise<readonly Finding[]> {
  // A configuration with a fault is told by its own check.
  const config = await new UserConfig(userConfigPath()).read().catch(() => undefined);
  const embedded = await embed({ cwd });
  try {
    const found = await Promise.all(
      configuredAgents(config).map((agent) => agentFinding(agent, embedded.client, cwd)),
    );
    return found.flat();
  } finally {
    await embedded.close();
  }
}

async function agentFinding(agent: ConfiguredAgent, client: FlintClient, cwd: string): Promise<Finding[]> {
  const known = KNOWN_AGENTS.find(({ id }) => id === agent.id);
  const program = await agent.program();
  const path = program?.command[0];
  if (path === undefined) {
    if (known?.install === undefined) return [];
    return [{ name: agent.id, state: "absent", detail: "not found", wayOut: known.install }];
  }
  // Whether an agent without known credentials can answer, it says itself when it is first used.
  const access = known === undefined || hasNoCredentials(known) ? undefined : known.login?.hint;
  const [version, drift, hasAccess] = await Promise.all([
    versionOf(client, path, cwd),
    agent.id === "codex" ? driftFindings(client, program?.command ?? []) : [],
    access === undefined || agent.hasAccess(),
  ]);
  const detail = version === undefined ? path : `${version} (${path})`;
  if (hasAccess || access === undefined) return [{ name: agent.id, state: "ok", detail }, ...drift];
  const wayIn = { detail: `${detail}, no login and no key`, wayOut: access };
  return [{ name: agent.id, state: "absent", ...wayIn }, ...drift];
}

function hasNoCredentials({ credentials: { variables, files } }: AgentDescriptor): boolean {
  return variables.length === 0 && files.length === 0;
}

/** The first line that a program says about its version; undefined if it says none in time. */
async function versionOf(client: FlintClient, program: string, cwd: string): Promise<string | undefined> {
  const asked = client.call("command/exec", { command: [program, "--version"], cwd, timeoutMs: 10_000 });
  const answer = await asked.catch(() => undefined);
  const [line = ""] = (answer?.exitCode === 0 ? answer.stdout : "").trim().split("\n");
  return line === "" ? undefined : line;
}
