import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { type AgentProgram, KNOWN_AGENTS, type ProcessSpan } from "@flint/drivers";
import { agentId } from "./agent-id.ts";
import type { ConfigValues } from "./config-values.ts";
import { homeFolder, inheritedEnvironment, setting } from "./environment.ts";

/** An agent that the user named, or that Flint knows by name. */
export interface ConfiguredAgent {
  readonly id: string;
  /** The command that starts it, as it is configured or known. */
  readonly command: readonly string[];
  /** How long one of its processes stays, if the user chose. */
  readonly processSpan?: ProcessSpan | undefined;
  /** Finds its program now. */
  program(): Promise<AgentProgram | undefined>;
  /** Whether it is known to have a key or a login. Looks, but reads no secret. */
  hasAccess(): Promise<boolean>;
}

/** Every agent there may be: the known ones, and those of the configuration. */
export function configuredAgents(config: ConfigValues | undefined): readonly ConfiguredAgent[] {
  const named = config?.names("agents") ?? [];
  const ids = [...new Set([...KNOWN_AGENTS.map(({ id }) => id), ...named])];
  return ids
    .filter((id) => config?.get("agents.*.enabled", id) !== false)
    .map((id) => configuredAgent(id, config));
}

/** An agent by the command line that starts it, for one run. Its id is the name of its program. */
export function commandAgent(commandLine: string): ConfiguredAgent {
  const command = commandLine.split(/\s+/).filter((word) => word !== "");
  return {
    ...{ id: agentId(commandLine), command },
    program: () => found(command, {}),
    hasAccess: async () => false,
  };
}

function configuredAgent(id: string, config: ConfigValues | undefined): ConfiguredAgent {
  const known = KNOWN_AGENTS.find((descriptor) => descriptor.id === id);
  const configured = config?.get("agents.*.command", id);
  const command = configured ?? known?.command ?? [];
  return {
    ...{ id, command },
    processSpan: config?.get("agents.*.process", id),
    async program() {
      const variable = configured === undefined ? known?.executableVariable : undefined;
      const other = variable === undefined ? undefined : setting(variable);
      const own = known === undefined ? {} : ownVariables(known.ownVariables);
      const environment = { ...own, ...config?.get("agents.*.env", id) };
      return found(other === undefined ? command : [other, ...command.slice(1)], environment);
    },
    async hasAccess() {
      const { variables = [], files = [] } = known?.credentials ?? {};
      if (variables.some((name) => (inheritedEnvironment()[name] ?? "") !== "")) return true;
      const home = homeFolder();
      if (home === undefined) return false;
      const readable = await Promise.all(files.map((path) => isReadable(join(home, path))));
      return readable.includes(true);
    },
  };
}

/** Only what is set, by the names that belong to the agent. */
function ownVariables(names: RegExp): Record<string, string> {
  const entries = Object.entries(inheritedEnvironment());
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value !== undefined && names.test(name) ? [[name, value]] : [])),
  );
}

async function found(
  [program = "", ...rest]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<AgentProgram | undefined> {
  const path = await findProgram(program);
  return path === undefined ? undefined : { command: [path, ...rest], environment };
}

/** The whole path of a program: as it is given, or from the search path. */
export async function findProgram(program: string): Promise<string | undefined> {
  if (program === "") return undefined;
  if (program.includes("/")) return (await isExecutable(resolve(program))) ? resolve(program) : undefined;
  for (const folder of (setting("PATH") ?? "").split(delimiter).filter((entry) => isAbsolute(entry))) {
    const path = join(folder, program);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}
