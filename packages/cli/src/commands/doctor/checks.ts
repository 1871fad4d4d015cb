import { access, constants, mkdir, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { McpServerConfig } from "@flint/core/ports";
import { ignoredProgramReason, KNOWN_AGENTS } from "@flint/drivers";
import { errorMessage } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import {
  type ConfiguredAgent,
  type ConfigValues,
  configuredAgents,
  configuredOptions,
  findProgram,
  mcpServersOf,
  readSystemConfig,
  SYSTEM_CONFIG_PATH,
  UserConfig,
} from "@flint/server/config";
import { embed } from "@flint/server/embed";
import { setting, stateFolder, userConfigPath } from "@flint/server/environment";
import { count } from "@flint/view";
import { VERSION } from "../../version.ts";
import { hasNoCredentials, isOwnProgram, versionOf } from "../agents/programs.ts";
import { driftFindings, versionDrift } from "./drift.ts";
import type { Check, Finding } from "./finding.ts";
import { models } from "./model-checks.ts";

/** Every check, in the order of the report. */
export const CHECKS: readonly Check[] = [
  program,
  state,
  configuration,
  sandbox,
  models,
  agents,
  () => tool("ripgrep", "rg", "Search is slower without it: apt-get install ripgrep"),
  () => tool("git", "git", "Needed for reviews: apt-get install git"),
  workspace,
];

async function program(): Promise<readonly Finding[]> {
  const detail = `${VERSION} on Node ${process.versions.node}`;
  if (isNodeNewEnough(process.versions.node)) return [{ name: "flint", state: "ok", detail }];
  return [
    {
      name: "flint",
      state: "problem",
      detail,
      fix: "Install Node 20.19 or later in 20, or Node 22.13 or newer.",
    },
  ];
}

/** Reports whether Flint supports this version of Node. */
export function isNodeNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 13) || major > 22;
}

async function state(): Promise<readonly Finding[]> {
  const folder = stateFolder();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
    const open = ((await stat(folder)).mode & 0o077) !== 0;
    const detail = open ? `other users can read ${folder}` : folder;
    return [
      {
        name: "threads",
        state: open ? "problem" : "ok",
        detail,
        ...(open ? { fix: `chmod 700 ${folder}` } : {}),
      },
    ];
  } catch (thrown) {
    const detail = `${folder}: ${errorMessage(thrown)}`;
    return [{ name: "threads", state: "problem", detail, fix: "Set FLINT_HOME to a folder you own." }];
  }
}

async function sandbox(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd });
  try {
    const { sandbox: found } = await embedded.client.configRead();
    if (found.available) {
      const limited = (found.limitations ?? []).map(
        (detail) => ({ name: "sandbox", state: "absent", detail }) as const,
      );
      return [{ name: "sandbox", state: "ok", detail: found.mechanism }, ...limited];
    }
    const fix = "apt-get install bubblewrap";
    return [{ name: "sandbox", state: "problem", detail: found.detail ?? "not available", fix }];
  } catch (thrown) {
    return [{ name: "sandbox", state: "problem", detail: errorMessage(thrown) }];
  } finally {
    await embedded.close();
  }
}

async function tool(name: string, file: string, fix: string): Promise<readonly Finding[]> {
  for (const folder of (setting("PATH") ?? "").split(delimiter).filter((entry) => entry.startsWith("/"))) {
    const path = join(folder, file);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return [{ name, state: "ok", detail: path }];
  }
  return [{ name, state: "absent", detail: "not on PATH", fix }];
}

async function workspace(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd });
  try {
    const { files } = await embedded.client.call("workspace/read", { cwd });
    return files.map(({ path, trusted, problem, steers = ["Flint"] }): Finding => {
      if (problem !== undefined)
        return { name: "this folder", state: "problem", detail: `${path}: ${problem}` };
      if (trusted) return { name: "this folder", state: "ok", detail: `${path} is trusted` };
      const detail = `${path} is ignored (for ${steers.join(", ")})`;
      return { name: "this folder", state: "absent", detail, fix: "flint trust" };
    });
  } finally {
    await embedded.close();
  }
}

/** Checks which agents are installed, in which version, and with a login or a key or without. */
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
  const known = KNOWN_AGENTS.find(({ id }) => id === agent.driver);
  const program = await agent.program(cwd);
  const path = program?.command[0];
  if (path === undefined) {
    const own = known?.package === undefined ? undefined : `flint agents install ${agent.id}`;
    const fix = [own, known?.install].filter((way) => way !== undefined).join(", or ");
    const leftOut = await agent.leftOut(cwd);
    if (fix === "" && leftOut === undefined) return [];
    const why = leftOut === undefined ? "" : `: ${ignoredProgramReason(leftOut, agent.id)}`;
    return [
      { name: agent.id, state: "absent", detail: `not installed${why}`, ...(fix === "" ? {} : { fix }) },
    ];
  }
  // An agent without known credentials reports itself, on its first turn, that it needs a login.
  const login = known === undefined || hasNoCredentials(known) ? undefined : known.login?.hint;
  const isOwn = isOwnProgram(program?.command ?? [], known);
  const [version, drift, hasAccess] = await Promise.all([
    isOwn ? versionOf(client, path, cwd) : undefined,
    agent.driver === "codex" ? driftFindings(client, program?.command ?? []) : [],
    login === undefined || agent.hasAccess(),
  ]);
  const changes = [...(await versionDrift(client, known, path, version)), ...drift];
  // An agent that another program runs is not asked for its version: one that does not know the option would start.
  const name = isOwn ? path : `${(program?.command ?? []).join(" ")}, version unknown`;
  const detail = version === undefined ? name : `${version} (${path})`;
  if (hasAccess || login === undefined) return [{ name: agent.id, state: "ok", detail }, ...changes];
  return [{ name: agent.id, state: "absent", detail: `${detail}, not logged in`, fix: login }, ...changes];
}

/** Checks that the user's configuration is valid, and that the programs of its MCP servers exist. */
export async function configuration(): Promise<readonly Finding[]> {
  const config = new UserConfig(userConfigPath());
  try {
    const values = await config.read();
    return [
      fileFinding(values, config.path),
      ...(await machineFindings()),
      ...(await serverFindings(values)),
    ];
  } catch (thrown) {
    return [faultFinding(thrown, config.path)];
  }
}

/** Checks that the machine's configuration is valid, and lists what it locks. */
async function machineFindings(): Promise<readonly Finding[]> {
  const name = "machine";
  try {
    const system = await readSystemConfig();
    if (system === undefined) return [];
    const locks = system.locks === undefined ? "locks nothing" : "has locked settings";
    return [{ name, state: "ok", detail: `${SYSTEM_CONFIG_PATH} ${locks}` }];
  } catch (thrown) {
    const fix = `Ask the administrator to edit ${SYSTEM_CONFIG_PATH}.`;
    return [{ name, state: "problem", detail: errorMessage(thrown), fix }];
  }
}

function fileFinding(values: ConfigValues, path: string): Finding {
  // Expected: values that contradict each other. The checks below still run.
  try {
    configuredOptions(values);
  } catch (thrown) {
    return faultFinding(thrown, path);
  }
  const keys = values.entries().length;
  const detail = keys === 0 ? "none; using defaults" : `${count(keys, "key")} in ${path}`;
  return { name: "configuration", state: "ok", detail };
}

function faultFinding(thrown: unknown, path: string): Finding {
  return { name: "configuration", state: "problem", detail: errorMessage(thrown), fix: `Edit ${path}.` };
}

async function serverFindings(values: ConfigValues): Promise<readonly Finding[]> {
  // Expected: a server without a command or a URL, which the row above reports.
  try {
    return await Promise.all(mcpServersOf(values, (text) => text).map(serverFinding));
  } catch {
    return [];
  }
}

async function serverFinding(server: McpServerConfig): Promise<Finding> {
  const name = "MCP server";
  if (server.type === "http") {
    return { name, state: "ok", detail: `${server.name} at ${new URL(server.url).origin}` };
  }
  const { command } = server;
  const path = await findProgram(command);
  if (path !== undefined) return { name, state: "ok", detail: `${server.name}: ${path}` };
  return {
    name,
    state: "problem",
    detail: `${server.name}: command not found: ${command}`,
    fix: `Install it, or set mcp_servers.${server.name}.command to its path.`,
  };
}
