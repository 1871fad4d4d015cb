import { KNOWN_ACP_AGENTS } from "@flint/drivers";
import type { FlintClient } from "@flint/sdk";
import { type ConfiguredAgent, configuredAgents, UserConfig } from "@flint/server/config";
import { embed } from "@flint/server/embed";
import { userConfigPath } from "@flint/server/environment";
import { driftFindings, type Finding } from "./finding.ts";

/** How each agent is got and let in. Agents that are not here say it themselves when they are first used. */
const WAYS: Readonly<Record<string, { readonly install: string; readonly access?: string }>> = {
  claude: {
    install: "npm install -g @anthropic-ai/claude-code",
    access: "Log in by running claude once, or export ANTHROPIC_API_KEY=…",
  },
  codex: { install: "npm install -g @openai/codex", access: "codex login, or export OPENAI_API_KEY=…" },
  ...Object.fromEntries(
    KNOWN_ACP_AGENTS.flatMap(({ name, install }) => (install === undefined ? [] : [[name, { install }]])),
  ),
};

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
  const way = WAYS[agent.id];
  const program = await agent.program();
  const path = program?.command[0];
  if (path === undefined) {
    if (way === undefined) return [];
    return [{ name: agent.id, state: "absent", detail: "not found", wayOut: way.install }];
  }
  const [version, drift, hasAccess] = await Promise.all([
    versionOf(client, path, cwd),
    agent.id === "codex" ? driftFindings(client, program?.command ?? []) : [],
    way?.access === undefined || agent.hasAccess(),
  ]);
  const detail = version === undefined ? path : `${version} (${path})`;
  if (hasAccess || way?.access === undefined) return [{ name: agent.id, state: "ok", detail }, ...drift];
  const wayIn = { detail: `${detail}, no login and no key`, wayOut: way.access };
  return [{ name: agent.id, state: "absent", ...wayIn }, ...drift];
}

/** The first line that a program says about its version; undefined if it says none in time. */
async function versionOf(client: FlintClient, program: string, cwd: string): Promise<string | undefined> {
  const asked = client.call("command/exec", { command: [program, "--version"], cwd, timeoutMs: 10_000 });
  const answer = await asked.catch(() => undefined);
  const [line = ""] = (answer?.exitCode === 0 ? answer.stdout : "").trim().split("\n");
  return line === "" ? undefined : line;
}
