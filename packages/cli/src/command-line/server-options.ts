import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { PolicyRules } from "@flint/core/ports";
import { type NetworkPermission, networkRuleProblem, type SandboxPolicy } from "@flint/protocol";
import {
  APPROVAL_NAMES,
  agentId,
  approvalPolicyNamed,
  type ConfigValues,
  GIT_MODES,
  modelOfAgent,
  PERMISSION_MODES,
  type PermissionMode,
  permissionMode,
  SANDBOX_NAMES,
  SYSTEM_CONFIG_PATH,
  type SystemConfig,
  sandboxPolicyNamed,
} from "@flint/server/config";
import { inheritedEnvironment, userConfigPath } from "@flint/server/environment";
import { FRONTEND_NAMES, type FrontendName } from "@flint/server/frontends";
import type { AgentTraces, ServerOptions } from "@flint/server/serve";
import { nearest } from "@flint/view/commands";
import { choice, numberOption, UsageError } from "./command.ts";
import { type FlagValues, OFFLINE_MODEL, SERVER_FLAGS } from "./flags.ts";
import { askLine, isInteractive } from "./terminal.ts";

/** The values of the options that configure a server. */
export type ServerFlagValues = Omit<FlagValues<typeof SERVER_FLAGS>, "help"> & {
  readonly "auto-resume"?: boolean | undefined;
};

/**
 * Reports whether any option configures the server itself, so that the running server cannot take its place.
 */
export function configuresServer({ cwd: _cwd, ...values }: ServerFlagValues): boolean {
  return [...Object.keys(SERVER_FLAGS), "auto-resume"].some((name) => Object.hasOwn(values, name));
}

/** The protocol that `--protocol` names; undefined if it was not given. */
export function protocolNamed(name: string | undefined): FrontendName | undefined {
  return name === undefined ? undefined : choice("protocol", name, FRONTEND_NAMES);
}

/** Server options with an absolute working folder. */
export type PlacedOptions = ServerOptions & { readonly cwd: string };

/** The options of a server: the user's configuration file, overridden by the command line. */
export async function serverOptions(values: ServerFlagValues): Promise<PlacedOptions> {
  const chosen = chosenOptions(values);
  await confirmFullAccess(values);
  const system = await systemConfig();
  const config = await configOf(system);
  const agents = await agentsFor(config, values.agent);
  const policyFile = values.policy ?? config?.get("policy_file");
  return {
    ...(config === undefined ? {} : await configuredServer(config)),
    ...chosen,
    ...(policyFile === undefined
      ? {}
      : {
          policyRules: await policyRules(policyFile, values.policy !== undefined, [
            ...(await allAgentIds(config)),
            ...agents.map(({ id }) => id),
          ]),
        }),
    ...(values.trace === undefined ? {} : { trace: await traceFile(values.trace) }),
    ...(system === undefined ? {} : lockedOptions(system, { ...configuredFlags(config), ...chosen })),
    agents,
    cwd: resolve(values.cwd ?? "."),
    chosen: Object.keys(chosen),
  };
}

const CONFIRM =
  "Full access: the agent runs without approvals and without a sandbox, and can do everything you can. Continue? [y/N] ";

/** Asks before everything is turned off. Without a terminal, `--allow-unconfined` says that it is meant. */
async function confirmFullAccess(values: ServerFlagValues): Promise<void> {
  if (modeOf(values) !== "full-access" || values["allow-unconfined"] === true) return;
  if (!isInteractive())
    throw new UsageError(
      "Full access has to be confirmed in a terminal. To use it without one, add --allow-unconfined.",
    );
  const answer = await askLine(CONFIRM);
  if (answer?.toLowerCase() !== "y") throw new UsageError("Full access was not confirmed.");
}

/** The permission mode that was chosen on the command line. */
function modeOf({ permissions, yolo }: ServerFlagValues): PermissionMode | undefined {
  if (yolo !== true) {
    return permissions === undefined ? undefined : choice("permissions", permissions, PERMISSION_MODES);
  }
  if (permissions === undefined || permissions === "full-access") return "full-access";
  throw new UsageError("--yolo means --permissions full-access; leave out one of the two.");
}

/** The user's configuration; undefined if the file is absent or empty, so that its parser is not loaded. */
async function userConfig(): Promise<ConfigValues | undefined> {
  if (!existsSync(userConfigPath())) return undefined;
  const { UserConfig } = await import("@flint/server/config");
  const config = await new UserConfig(userConfigPath()).read();
  return config.entries().length === 0 ? undefined : config;
}

/** The machine's configuration, with which the administrator can lock settings; undefined if there is none. */
async function systemConfig(): Promise<SystemConfig | undefined> {
  if (!existsSync(SYSTEM_CONFIG_PATH)) return undefined;
  return (await import("@flint/server/config")).readSystemConfig();
}

/** The user's configuration on top of the machine's. */
async function configOf(system: SystemConfig | undefined): Promise<ConfigValues | undefined> {
  const user = await userConfig();
  if (system === undefined) return user;
  const { ConfigValues, mergedConfig } = await import("@flint/server/config");
  return mergedConfig(system.values, user ?? new ConfigValues());
}

function configuredFlags(config: ConfigValues | undefined): ServerOptions {
  return {
    allowUnconfined: config?.get("allow_unconfined"),
    allowRemoteMcp: config?.get("allow_remote_mcp"),
  };
}

/** The options that keep a server within what the administrator has locked. Throws for one that is turned on all the same. */
function lockedOptions({ locks, forbidden }: SystemConfig, given: ServerOptions): ServerOptions {
  const on = { allow_unconfined: given.allowUnconfined, allow_remote_mcp: given.allowRemoteMcp };
  for (const key of forbidden) {
    if (on[key] === true) {
      throw new UsageError(
        `${key} is not allowed. The administrator of this machine locked it (${SYSTEM_CONFIG_PATH}).`,
      );
    }
  }
  return {
    locks,
    ...(forbidden.has("allow_unconfined") ? { allowUnconfined: false } : {}),
    ...(forbidden.has("allow_remote_mcp") ? { allowRemoteMcp: false } : {}),
  };
}

async function configuredServer(config: ConfigValues): Promise<ServerOptions> {
  const { configuredOptions } = await import("@flint/server/config");
  return configuredOptions(config);
}

/** The configured agents, and the one that `--agent` gives as a command line. */
async function agentsFor(config: ConfigValues | undefined, agent: string | undefined) {
  const { ConfigError, commandAgent, configuredAgents } = await import("@flint/server/config");
  const agents = configuredAgents(config);
  const names = ["flint", ...agents.map(({ id }) => id)];
  const configured = unknownAgent(config?.get("agent"), names);
  if (configured !== undefined) throw new ConfigError(`agent in ${userConfigPath()}: ${configured}`);
  if (agent !== undefined && isCommandLine(agent)) return [...agents, commandAgent(agent)];
  const given = unknownAgent(agent, names);
  if (given !== undefined) throw new UsageError(given);
  return agents;
}

/** The problem with the name of an agent, by the user's configuration. */
export async function unknownAgentMessage(name: string): Promise<string | undefined> {
  const { configuredAgents } = await import("@flint/server/config");
  return unknownAgent(name, ["flint", ...configuredAgents(await userConfig()).map(({ id }) => id)]);
}

/** The problem with the name of an agent, and which one was probably meant. */
function unknownAgent(name: string | undefined, known: readonly string[]): string | undefined {
  if (name === undefined || known.includes(name)) return undefined;
  const meant = nearest(name, known);
  const hint = meant === undefined ? `Agents: ${known.join(", ")}.` : `Did you mean ${meant}?`;
  return `No agent ${name}. ${hint}`;
}

/**
 * Reports whether an agent is given as a command line: that contains a space or a slash, and a name contains
 * neither.
 */
export function isCommandLine(agent: string): boolean {
  return /[\s/]/.test(agent);
}

async function traceFile(path: string): Promise<AgentTraces> {
  const [{ TraceFile }, { secretsIn }] = await Promise.all([
    import("@flint/server/trace"),
    import("@flint/core"),
  ]);
  return asUsage(async () => TraceFile.open(resolve(path), { secrets: secretsIn(inheritedEnvironment()) }));
}

async function allAgentIds(config: ConfigValues | undefined): Promise<readonly string[]> {
  const { agentIds } = await import("@flint/server/config");
  return ["flint", ...agentIds(config)];
}

async function policyRules(path: string, isOption: boolean, agents: readonly string[]): Promise<PolicyRules> {
  const { readPolicyFile } = await import("@flint/server/policy");
  const read = () => readPolicyFile(resolve(path), [...new Set(agents)]);
  return isOption ? asUsage(read) : read();
}

/** Reports a problem with a file that an option names as a usage error: the configuration is not at fault. */
async function asUsage<Result>(open: () => Promise<Result>): Promise<Result> {
  // Expected: a ConfigError about the file.
  try {
    return await open();
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== "ConfigError") throw thrown;
    throw new UsageError(thrown.message);
  }
}

/** Only what was given: an absent option must not override the configuration. */
function chosenOptions(values: ServerFlagValues): ServerOptions {
  const { approval, sandbox, durability, git } = values;
  const name = modeOf(values);
  const mode = name === undefined ? {} : permissionMode(name);
  const all: ServerOptions = {
    ...present(mode),
    // A mode replaces all that is configured for agents.
    agentPermissions: name === undefined ? undefined : new Map(),
    model: modelOf(values),
    offlineAgents: values.offline,
    ...present({
      approvalPolicy:
        approval === undefined
          ? undefined
          : approvalPolicyNamed(choice("approval", approval, APPROVAL_NAMES)),
      sandboxPolicy: sandboxOf(sandbox, values["add-dir"], mode.sandboxPolicy),
      network: networkOf(values.network),
      git: git === undefined ? undefined : choice("git", git, GIT_MODES),
    }),
    durability: durability === undefined ? undefined : choice("durability", durability, DURABILITIES),
    approvalTimeoutMs: timeoutMs(values["approval-timeout"]),
    allowUnconfined: values["allow-unconfined"],
    autoResume: values["auto-resume"],
  };
  return present(all);
}

/** The options that are set. */
function present<Options extends object>(options: Options): Partial<Options> {
  // Only undefined values are removed.
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Partial<Options>;
}

/** The sandbox that was chosen, with the folders that were added to it. */
function sandboxOf(
  name: string | undefined,
  folders: readonly string[] | undefined,
  ofMode: SandboxPolicy | undefined,
): SandboxPolicy | undefined {
  const chosen = name === undefined ? ofMode : sandboxPolicyNamed(choice("sandbox", name, SANDBOX_NAMES));
  if (folders === undefined) return chosen;
  const policy = chosen ?? sandboxPolicyNamed("workspace-write");
  if (policy.type !== "workspaceWrite") {
    throw new UsageError("--add-dir works with --sandbox workspace-write only; leave out one of the two.");
  }
  return { ...policy, writableRoots: folders.map((folder) => resolve(folder)) };
}

/** The hosts that `--network` names; throws a UsageError that explains what is wrong with one. */
export function networkOf(hosts: string | undefined): NetworkPermission | undefined {
  if (hosts === undefined || hosts === "none" || hosts === "all") return hosts;
  const rules = hosts.split(",").map((rule) => rule.trim());
  for (const rule of rules) {
    const problem = networkRuleProblem(rule);
    if (problem !== undefined) throw new UsageError(`--network: ${problem}.`);
  }
  return { hosts: rules };
}

const DURABILITIES = SERVER_FLAGS.durability.values;

/** An agent without a model means the agent's default model. */
function modelOf({ agent, model, offline }: ServerFlagValues): string | undefined {
  // Other agents are pointed at the offline model; Flint's own agent has it as a model.
  if (offline === true && (agent === undefined || agent === "flint")) return OFFLINE_MODEL;
  if (agent === undefined) return model;
  const id = isCommandLine(agent) ? agentId(agent) : agent;
  return modelOfAgent(id, model);
}

/** The seconds that `--idle-exit` was given; 0 means never. */
export function idleSeconds(text: string): number {
  const what = `a number of seconds from 0 (never) to ${MAX_IDLE_SECONDS}`;
  return numberOption("idle-exit", text, what, (value) => value >= 0 && value <= MAX_IDLE_SECONDS);
}

/** The longest delay that a timer of Node supports, in seconds, rounded down. */
const MAX_IDLE_SECONDS = 2_000_000;

function timeoutMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isValid = (value: number): boolean => Number.isFinite(value) && value > 0;
  return numberOption("approval-timeout", text, "a number of seconds above 0", isValid) * 1000;
}
