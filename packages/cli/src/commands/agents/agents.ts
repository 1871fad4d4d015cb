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
import { escapeControls } from "@flint/view";
import { nearest } from "@flint/view/commands";
import { noArguments, oneArgument, UsageError } from "../../command-line/command.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";

interface ListArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

interface Positionals {
  readonly positionals: readonly string[];
}

/** A row of `flint agents list`. */
interface AgentRow {
  readonly agent: string;
  readonly name: string;
  /** The program that Flint would start; absent if it is not installed. */
  readonly path?: string;
  readonly version?: string;
  /** The version that Flint is tested with. */
  readonly testedVersion?: string;
  /** True if Flint installed it. */
  readonly installedByFlint: boolean;
  /** The command that installs it, if it is not installed. */
  readonly install?: string;
}

/** `flint agents list`. */
export async function listAgents({ values, positionals }: ListArguments): Promise<number> {
  noArguments("agents list", positionals);
  // An invalid configuration is reported by flint doctor.
  const config = await new UserConfig(userConfigPath()).read().catch(() => new ConfigValues());
  const rows = await withClient((client) =>
    Promise.all(configuredAgents(config).map((agent) => rowOf(agent, client))),
  );
  if (values.json === true) return printJson(rows);
  const table = rows.map((row) => [row.agent, stateOf(row), row.path ?? row.install ?? ""]);
  return print(escapeControls(columns([["AGENT", "VERSION", "PROGRAM"], ...table])));
}

/** `flint agents install NAME`. */
export async function installAgents({ positionals }: Positionals): Promise<number> {
  const agent = knownAgent(oneArgument("agents install", positionals, "the name of an agent"));
  const { name = agent.displayName, version = "" } = agent.package ?? {};
  process.stderr.write(`Downloading ${name}@${version} with npm ...\n`);
  const installed = await withClient((client) =>
    installAgent(agent, (command, folder) => run(client, command, folder)),
  );
  const login = agentLogins().find(({ command }) => command === agent.login?.command);
  const next = login === undefined ? "" : `To log in: flint acp --login ${login.agent}\n`;
  return print(`Installed ${agent.displayName} ${installed.version}: ${installed.path}\n${next}`);
}

/** `flint agents remove NAME`. The exit code is 1 if Flint did not install it. */
export async function removeAgents({ positionals }: Positionals): Promise<number> {
  const agent = knownAgent(oneArgument("agents remove", positionals, "the name of an agent"));
  if (await removeAgent(agent.id)) return print(`Removed ${agent.displayName}.\n`);
  return printError(`${agent.displayName} was not installed with flint agents install.`, 1);
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
  const [program, installed] = await Promise.all([agent.program(), installedAgent(agent.id)]);
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
    installedByFlint: installed !== undefined && installed.path === path,
    ...(path === undefined && install !== undefined ? { install } : {}),
  };
}

function stateOf({ path, version, testedVersion }: AgentRow): string {
  if (path === undefined) return "not installed";
  if (version === undefined) return "unknown";
  return testedVersion === undefined || testedVersion === version
    ? version
    : `${version} (tested: ${testedVersion})`;
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
