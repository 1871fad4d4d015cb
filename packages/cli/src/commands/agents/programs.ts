import { basename } from "node:path";
import { type AgentDescriptor, KNOWN_AGENTS } from "@flint/drivers";
import type { FlintClient } from "@flint/sdk";
import { installAgent, installedAgent, removeAgent } from "@flint/server/agent-programs";
import {
  agentLogins,
  type ConfiguredAgent,
  ConfigValues,
  configuredAgents,
  UserConfig,
} from "@flint/server/config";
import { embed } from "@flint/server/embed";
import { userConfigPath } from "@flint/server/environment";
import { nearest } from "@flint/view/commands";
import { UsageError } from "../../command-line/command.ts";

/** An agent, and the program that Flint would start for it. */
export interface AgentRow {
  readonly agent: string;
  readonly name: string;
  /** The program that Flint would start; absent if it is not installed. */
  readonly path?: string;
  readonly version?: string;
  /** The version that Flint is tested with. */
  readonly testedVersion?: string;
  /**
   * True if it has a key or a login; absent if it reports that only on its first turn, or is not installed.
   */
  readonly loggedIn?: boolean;
  /** True if Flint installed it. */
  readonly installedByFlint: boolean;
  /** The command that installs it, if it is not installed. */
  readonly install?: string;
}

/** Every agent but Flint's own, with the program that Flint would start for it. */
export async function agentRows(): Promise<readonly AgentRow[]> {
  // An invalid configuration is reported by flint doctor.
  const config = await new UserConfig(userConfigPath()).read().catch(() => new ConfigValues());
  return withClient((client) => Promise.all(configuredAgents(config).map((agent) => rowOf(agent, client))));
}

/** The agents that Flint can install. */
export async function installableAgents() {
  const agents = KNOWN_AGENTS.filter((agent) => agent.package !== undefined);
  const installed = await Promise.all(agents.map(({ id }) => installedAgent(id)));
  return agents.map(({ id, displayName }, at) => ({
    ...{ id, name: displayName },
    isInstalled: installed[at] !== undefined,
  }));
}

/** Installs an agent, and gives what the user should know. `begun` is called with what is being done. */
export async function installNamed(name: string, begun: (doing: string) => void): Promise<string> {
  const agent = knownAgent(name);
  const { name: packageName = agent.displayName, version = "" } = agent.package ?? {};
  begun(`Downloading ${packageName}@${version} with npm ...`);
  const installed = await withClient((client) =>
    installAgent(agent, (command, folder) => run(client, command, folder)),
  );
  const login = agentLogins().find(({ command }) => command === agent.login?.command);
  const next = login === undefined ? "" : `\nTo log in: flint acp --login ${login.agent}`;
  return `Installed ${agent.displayName} ${installed.version}: ${installed.path}${next}`;
}

/** Removes an agent, and gives its name and whether Flint had installed it. */
export async function removeNamed(
  name: string,
): Promise<{ readonly name: string; readonly isRemoved: boolean }> {
  const agent = knownAgent(name);
  return { name: agent.displayName, isRemoved: await removeAgent(agent.id) };
}

const INSTALL_MS = 15 * 60_000;

async function run(client: FlintClient, command: readonly string[], cwd: string) {
  const { exitCode, stdout, stderr } = await client.call("command/exec", {
    ...{ command: [...command], cwd, timeoutMs: INSTALL_MS },
    // npm is the user's own program, needs its cache and its settings, and runs nothing of what it fetches.
    sandboxPolicy: { type: "dangerFullAccess" },
  });
  return { exitCode, output: `${stderr}\n${stdout}` };
}

async function withClient<Result>(work: (client: FlintClient) => Promise<Result>): Promise<Result> {
  const embedded = await embed({ cwd: process.cwd(), allowUnconfined: true });
  try {
    return await work(embedded.client);
  } finally {
    await embedded.close();
  }
}

/** The descriptor of an agent that can be installed; throws a UsageError with the one that was probably meant. */
function knownAgent(name: string): AgentDescriptor {
  const found = KNOWN_AGENTS.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const names = KNOWN_AGENTS.map(({ id }) => id);
  const meant = nearest(name, names);
  throw new UsageError(
    `No agent ${name}. ${meant === undefined ? `Agents: ${names.join(", ")}.` : `Did you mean ${meant}?`}`,
  );
}

async function rowOf(agent: ConfiguredAgent, client: FlintClient): Promise<AgentRow> {
  const known = KNOWN_AGENTS.find(({ id }) => id === agent.id);
  const hasLogin = known !== undefined && !hasNoCredentials(known);
  const [program, installed, loggedIn] = await Promise.all([
    ...([agent.program(), installedAgent(agent.id)] as const),
    hasLogin ? agent.hasAccess() : undefined,
  ]);
  const path = program?.command[0];
  const isOwn = program !== undefined && isOwnProgram(program.command, known);
  const version =
    path === undefined || !isOwn ? undefined : versionNumber(await versionOf(client, path, process.cwd()));
  const testedVersion = known?.package?.version;
  const install = known?.package === undefined ? known?.install : `flint agents install ${agent.id}`;
  return {
    ...{ agent: agent.id, name: known?.displayName ?? agent.id },
    ...(path === undefined ? {} : { path }),
    ...(version === undefined ? {} : { version }),
    ...(testedVersion === undefined ? {} : { testedVersion }),
    ...(path === undefined || loggedIn === undefined ? {} : { loggedIn }),
    installedByFlint: installed !== undefined && installed.path === path,
    ...(path === undefined && install !== undefined ? { install } : {}),
  };
}

/** The version that is installed, and the tested one if that is another. */
export function stateOf({ path, version, testedVersion }: AgentRow): string {
  if (path === undefined) return "not installed";
  if (version === undefined) return "unknown";
  return testedVersion === undefined || testedVersion === version
    ? version
    : `${version} (tested: ${testedVersion})`;
}

/** Describes its login for a table; empty if that is unknown. */
export function loginOf({ loggedIn }: AgentRow): string {
  return loggedIn === undefined ? "" : loggedIn ? "yes" : "no";
}

/** The message about an agent that another program installed. */
export function notInstalledHere(name: string): string {
  return `${name} was not installed with flint agents install.`;
}

/**
 * Reports whether a command starts the agent's own program, and not one that runs it, such as `node
 * agent.mjs`.
 */
export function isOwnProgram(command: readonly string[], known: AgentDescriptor | undefined): boolean {
  const [program = "", ...options] = command;
  if (known === undefined) return options.length === 0;
  const [usual, ...usualOptions] = known.command;
  return basename(program) === usual || options.join("\0") === usualOptions.join("\0");
}

const VERSION_MS = 10_000;

/** The first line of `--version`; undefined if the program fails or takes too long. */
export async function versionOf(
  client: FlintClient,
  program: string,
  cwd: string,
): Promise<string | undefined> {
  const asked = client.call("command/exec", { command: [program, "--version"], cwd, timeoutMs: VERSION_MS });
  const answer = await asked.catch(() => undefined);
  const [line = ""] = (answer?.exitCode === 0 ? answer.stdout : "").trim().split("\n");
  return line === "" ? undefined : line;
}

/** The number in what a program prints about its version. */
export function versionNumber(line: string | undefined): string | undefined {
  return line === undefined ? undefined : (/\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?/.exec(line)?.[0] ?? line);
}

/** Reports whether the login of an agent is unknown: then it reports on its first turn that it needs one. */
export function hasNoCredentials({ credentials: { variables, files } }: AgentDescriptor): boolean {
  return variables.length === 0 && files.length === 0;
}
