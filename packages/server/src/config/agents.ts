import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { type AgentProgram, KNOWN_ACP_AGENTS, type ProcessSpan } from "@flint/drivers";
import { agentId } from "./agent-id.ts";
import type { ConfigValues } from "./config-values.ts";
import { homeFolder, inheritedEnvironment, setting } from "./environment.ts";

/** An agent that the user named, or that Flint knows by name. */
export interface ConfiguredAgent {
  readonly id: string;
  /** How long one of its processes stays, if the user chose. */
  readonly processSpan?: ProcessSpan | undefined;
  /** Finds its program now. */
  program(): Promise<AgentProgram | undefined>;
  /** Whether it is known to have a key or a login. Looks, but reads no secret. */
  hasAccess(): Promise<boolean>;
}

/** What Flint knows about finding an agent by itself. */
interface KnownAgent {
  readonly command: readonly string[];
  /** The variable that names another program. */
  readonly variable?: "CLAUDE_CODE_EXECUTABLE" | "CODEX_EXECUTABLE";
  /** Its own variables; it gets these and no other agent's. */
  readonly variables: RegExp;
  /** Any of these lets it in: a variable, or a file in the home folder. */
  readonly keys: readonly string[];
  readonly logins: readonly string[];
}

const OWN_WIRES: Readonly<Record<string, KnownAgent>> = {
  claude: {
    command: ["claude"],
    variable: "CLAUDE_CODE_EXECUTABLE",
    variables: /^(?:ANTHROPIC_|CLAUDE_)/,
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    logins: [".claude/.credentials.json"],
  },
  codex: {
    command: ["codex"],
    variable: "CODEX_EXECUTABLE",
    variables: /^(?:OPENAI_|CODEX_)/,
    keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    logins: [".codex/auth.json"],
  },
};

/** The agents that are found by themselves. One that speaks ACP says itself whether it is let in. */
const KNOWN_AGENTS: Readonly<Record<string, KnownAgent>> = {
  ...OWN_WIRES,
  ...Object.fromEntries(
    KNOWN_ACP_AGENTS.map(({ name, command, variables }) => [
      name,
      { command, variables, keys: [], logins: [] },
    ]),
  ),
};

/** Every agent there may be: the known ones, and those of the configuration. */
export function configuredAgents(config: ConfigValues | undefined): readonly ConfiguredAgent[] {
  const named = config?.names("agents") ?? [];
  const ids = [...new Set([...Object.keys(KNOWN_AGENTS), ...named])];
  return ids
    .filter((id) => config?.get("agents.*.enabled", id) !== false)
    .map((id) => configuredAgent(id, Object.hasOwn(KNOWN_AGENTS, id) ? KNOWN_AGENTS[id] : undefined, config));
}

/** An agent by the command line that starts it, for one run. Its id is the name of its program. */
export function commandAgent(commandLine: string): ConfiguredAgent {
  const command = commandLine.split(/\s+/).filter((word) => word !== "");
  return { id: agentId(commandLine), program: () => found(command, {}), hasAccess: async () => false };
}

function configuredAgent(
  id: string,
  known: KnownAgent | undefined,
  config: ConfigValues | undefined,
): ConfiguredAgent {
  return {
    id,
    processSpan: config?.get("agents.*.process", id),
    async program() {
      const other = known?.variable === undefined ? undefined : setting(known.variable);
      const usual = other === undefined ? known?.command : [other, ...(known?.command.slice(1) ?? [])];
      const command = config?.get("agents.*.command", id) ?? usual ?? [];
      const own = known === undefined ? {} : ownVariables(known.variables);
      return found(command, { ...own, ...config?.get("agents.*.env", id) });
    },
    async hasAccess() {
      const { keys = [], logins = [] } = known ?? {};
      if (keys.some((name) => (inheritedEnvironment()[name] ?? "") !== "")) return true;
      const home = homeFolder();
      if (home === undefined) return false;
      const files = await Promise.all(logins.map((path) => isReadable(join(home, path))));
      return files.includes(true);
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
