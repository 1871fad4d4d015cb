import { access, constants } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type AgentProgram, KNOWN_AGENTS, type ProcessSpan } from "@flint/drivers";
import { installedAgent } from "../agent-programs/installed.ts";
import { expandHome, homeFolder, inheritedEnvironment, setting } from "./environment.ts";
import type { ConfigValues } from "./parse.ts";
import { outsideProgram } from "./programs.ts";

/** An agent that Flint knows by name, or that the user configured. */
export interface ConfiguredAgent {
  readonly id: string;
  /** The kind of agent that it is; its id for all but the user's own names. */
  readonly driver: string;
  /** Its default model, if the user configured one, without its id. */
  readonly model?: string | undefined;
  /** The command that starts it, configured or known. */
  readonly command: readonly string[];
  /** Lifetime of one of its processes, if the user configured it. */
  readonly processSpan?: ProcessSpan | undefined;
  /** The variables that its program gets. */
  environment(): Readonly<Record<string, string>>;
  /** Looks for its program, but not in the current folder, the workspace and their repositories. */
  program(workspace?: string): Promise<AgentProgram | undefined>;
  /** The path of a program there that was left out, if there is no other. */
  leftOut(workspace?: string): Promise<string | undefined>;
  /** Reports whether it has a key or a login. Does not read either. */
  hasAccess(): Promise<boolean>;
}

/** The known agents and the configured ones, without those that are disabled. */
export function configuredAgents(config: ConfigValues | undefined): readonly ConfiguredAgent[] {
  return agentIds(config)
    .filter((id) => config?.get("agents.*.enabled", id) !== false)
    .map((id) => configuredAgent(id, config));
}

/** The ids of all agents but Flint's own, those that are disabled included. */
export function agentIds(config: ConfigValues | undefined): readonly string[] {
  const named = config?.names("agents") ?? [];
  return [...new Set([...KNOWN_AGENTS.map(({ id }) => id), ...named])];
}

/** An agent's own login: the agent's id and name, and the command line to run in a terminal. */
export interface AgentLoginCommand {
  readonly agent: string;
  readonly name: string;
  readonly command: string;
}

/** The logins of the known agents. Of agents with the same login only the first is listed. */
export function agentLogins(): readonly AgentLoginCommand[] {
  const byCommand = new Map<string, AgentLoginCommand>();
  for (const { id, displayName, login } of KNOWN_AGENTS) {
    if (login === undefined || byCommand.has(login.command)) continue;
    byCommand.set(login.command, { agent: id, name: displayName, command: login.command });
  }
  return [...byCommand.values()];
}

/** An agent given by the command line that starts it, for one run. */
export function commandAgent(commandLine: string): ConfiguredAgent {
  const command = commandLine.split(/\s+/).filter((word) => word !== "");
  return {
    ...{ id: agentId(commandLine), driver: "acp", command },
    environment: () => ({}),
    program: (workspace) => found(command, {}, workspace),
    leftOut: async (workspace) => (await outsideProgram(command[0] ?? "", workspace)).leftOut,
    hasAccess: async () => false,
  };
}

function configuredAgent(id: string, config: ConfigValues | undefined): ConfiguredAgent {
  const driver = config?.get("agents.*.driver", id) ?? id;
  const known = KNOWN_AGENTS.find((descriptor) => descriptor.id === driver);
  const configured = config?.get("agents.*.command", id);
  const command = configured ?? known?.command ?? [];
  const home = config?.get("agents.*.home", id);
  const folder = home === undefined ? undefined : inHome(home);
  const environment = () => ({
    // A second account must not get the keys of the first.
    ...(known === undefined || driver !== id ? {} : ownVariables(known.ownVariables)),
    ...(folder === undefined || known?.homeVariable === undefined ? {} : { [known.homeVariable]: folder }),
    ...config?.get("agents.*.env", id),
  });
  const start = async () => {
    const variable = configured === undefined ? known?.executableVariable : undefined;
    const other = variable === undefined ? undefined : setting(variable);
    const installed =
      configured === undefined && other === undefined ? await installedAgent(driver) : undefined;
    const program = other ?? installed?.path;
    return program === undefined ? command : [program, ...command.slice(1)];
  };
  return {
    ...{ id, driver, command },
    model: config?.get("agents.*.model", id),
    processSpan: config?.get("agents.*.process", id),
    environment,
    program: async (workspace) => found(await start(), environment(), workspace),
    leftOut: async (workspace) => (await outsideProgram((await start())[0] ?? "", workspace)).leftOut,
    async hasAccess() {
      const { variables = [], files = [] } = known?.credentials ?? {};
      const given: Readonly<Record<string, string | undefined>> =
        driver === id ? { ...inheritedEnvironment(), ...environment() } : environment();
      if (variables.some((name) => (given[name] ?? "") !== "")) return true;
      const users = homeFolder();
      const paths = folder === undefined ? files.map((path) => join(users ?? "", path)) : [];
      const own = folder === undefined ? [] : files.map((path) => join(folder, basename(path)));
      if (users === undefined && folder === undefined) return false;
      const readable = await Promise.all([...paths, ...own].map(isReadable));
      return readable.includes(true);
    },
  };
}

/** A folder that the user may have written with `~/`. */
function inHome(path: string): string {
  return resolve(expandHome(path));
}

/** The variables of the environment that belong to an agent. */
function ownVariables(names: RegExp): Record<string, string> {
  const entries = Object.entries(inheritedEnvironment());
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value !== undefined && names.test(name) ? [[name, value]] : [])),
  );
}

async function found(
  [program = "", ...rest]: readonly string[],
  environment: Readonly<Record<string, string>>,
  workspace: string | undefined,
): Promise<AgentProgram | undefined> {
  const { path, interpreter } = await outsideProgram(program, workspace);
  return path === undefined ? undefined : { command: [path, ...rest], interpreter, environment };
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** The id of an agent given by its command line: the name of its program. */
export function agentId(commandLine: string): string {
  const [program = "agent"] = commandLine.trim().split(/\s+/);
  return basename(program).replaceAll(/[^A-Za-z0-9_-]/g, "-");
}
