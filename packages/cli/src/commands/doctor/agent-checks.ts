import { type AgentDescriptor, KNOWN_AGENTS } from "@flint/drivers";
import type { FlintClient } from "@flint/sdk";
import { type ConfiguredAgent, configuredAgents, UserConfig } from "@flint/server/config";
import { embed } from "@flint/server/embed";
import { userConfigPath } from "@flint/server/environment";
import { driftFindings, type Finding } from "./finding.ts";

/** Which agents are installed, in which version, and whether they have a login or a key. */
export async function agents(cwd: string): Promise<readonly Finding[]> {
  // An invalid configuration is reported by its own check.
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
    return [{ name: agent.id, state: "absent", detail: "not installed", fix: known.install }];
  }
  // An agent without known credentials reports itself, on its first turn, that it needs a login.
  const login = known === undefined || hasNoCredentials(known) ? undefined : known.login?.hint;
  const [version, drift, hasAccess] = await Promise.all([
    versionOf(client, path, cwd),
    agent.id === "codex" ? driftFindings(client, program?.command ?? []) : [],
    login === undefined || agent.hasAccess(),
  ]);
  const detail = version === undefined ? path : `${version} (${path})`;
  if (hasAccess || login === undefined) return [{ name: agent.id, state: "ok", detail }, ...drift];
  return [{ name: agent.id, state: "absent", detail: `${detail}, not logged in`, fix: login }, ...drift];
}

function hasNoCredentials({ credentials: { variables, files } }: AgentDescriptor): boolean {
  return variables.length === 0 && files.length === 0;
}

/** The first line of `--version`; undefined if the program fails or takes too long. */
async function versionOf(client: FlintClient, program: string, cwd: string): Promise<string | undefined> {
  const asked = client.call("command/exec", { command: [program, "--version"], cwd, timeoutMs: 10_000 });
  const answer = await asked.catch(() => undefined);
  const [line = ""] = (answer?.exitCode === 0 ? answer.stdout : "").trim().split("\n");
  return line === "" ? undefined : line;
}
