import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { PolicyRules } from "@flint/core/ports";
import { ApprovalPolicy, type SandboxPolicy, SandboxShorthand, sandboxPolicyOf } from "@flint/protocol";
import { agentId, type ConfigValues, nearest } from "@flint/server/config";
import { inheritedEnvironment, userConfigPath } from "@flint/server/environment";
import { FRONTEND_NAMES, type FrontendName, isFrontendName } from "@flint/server/frontends";
import type { AgentTraces, Durability, ServerOptions } from "@flint/server/serve";
import { type Flags, type FlagValues, OFFLINE_MODEL, SERVER_FLAGS } from "./flags.ts";

/** A mistake on the command line. The message says what is wrong and what would be right; the exit code is 2. */
export class UsageError extends Error {
  /** The command whose help says more. */
  readonly help: string | undefined;

  constructor(message: string, help?: string) {
    super(message);
    this.name = "UsageError";
    this.help = help;
  }
}

/** Reads options and positionals; unknown options are an error that names them, and the one that was likely meant. */
export function readArguments<const Of extends Flags>(
  args: readonly string[],
  options: Of,
): { readonly values: FlagValues<Of>; readonly positionals: readonly string[] } {
  try {
    const parsed = parseArgs({ args: args.map(shielded), options, allowPositionals: true, strict: true });
    const given = Object.entries(parsed.values).map(([name, value]) => [name, unshieldedValue(value)]);
    // Node derives the same from `options`, but only for a type that is written out.
    const values = Object.fromEntries(given) as FlagValues<Of>;
    return { values, positionals: parsed.positionals.map(unshielded) };
  } catch (error) {
    throw new UsageError(parseProblem(error, Object.keys(options)));
  }
}

const SHIELD = "\0";

/** A number below zero is a value and no option; Node takes it for one unless something stands before it. */
function shielded(argument: string): string {
  return /^-\.?\d/.test(argument) ? `${SHIELD}${argument}` : argument;
}

function unshielded(argument: string): string {
  return argument.startsWith(SHIELD) ? argument.slice(1) : argument;
}

function unshieldedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshieldedValue);
  return typeof value === "string" ? unshielded(value) : value;
}

function parseProblem(error: unknown, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, name] = /^Unknown option '--?([^']+)'/.exec(message) ?? [];
  if (name === undefined) return message;
  const meant = nearest(name, known);
  const hint = meant === undefined ? "" : ` Did you mean --${meant}?`;
  return `There is no option ${name.length === 1 ? "-" : "--"}${name}.${hint}`;
}

/** Refuses what a command does not take. */
export function noArguments(command: string, positionals: readonly string[]): void {
  if (positionals.length === 0) return;
  throw new UsageError(`${command} takes no argument ${JSON.stringify(positionals[0])}.`);
}

/** The one argument that a command needs. */
export function oneArgument(command: string, positionals: readonly string[], what: string): string {
  const [argument, ...more] = positionals;
  if (argument === undefined) throw new UsageError(`${command} needs ${what}.`);
  noArguments(`After ${JSON.stringify(argument)}, ${command}`, more);
  return argument;
}

/** What `readArguments` found for the options that belong to the server. */
export interface ServerFlagValues {
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly agent?: string | undefined;
  readonly trace?: string | undefined;
  readonly offline?: boolean | undefined;
  readonly approval?: string | undefined;
  readonly sandbox?: string | undefined;
  readonly policy?: string | undefined;
  readonly durability?: string | undefined;
  readonly "approval-timeout"?: string | undefined;
  readonly "allow-unconfined"?: boolean | undefined;
  readonly "auto-resume"?: boolean | undefined;
}

/** Whether any of these options decides how a server works, so that another one cannot take its place. */
export function shapesServer(values: ServerFlagValues): boolean {
  const { cwd: _cwd, ...shaping } = values;
  return [...Object.keys(SERVER_FLAGS), "auto-resume"].some((name) => Object.hasOwn(shaping, name));
}

/** The door of this name; undefined if none was named. */
export function doorNamed(name: string | undefined): FrontendName | undefined {
  if (name === undefined || isFrontendName(name)) return name;
  throw new UsageError(`--door takes ${FRONTEND_NAMES.join(", ")}; not ${JSON.stringify(name)}.`);
}

/** Server options with the folder to work in as a whole path. */
export type PlacedOptions = ServerOptions & { readonly cwd: string };

/** The server that these options ask for, on top of the user's configuration file. */
export async function serverOptions(values: ServerFlagValues): Promise<PlacedOptions> {
  const chosen = chosenOptions(values);
  const config = await userConfig();
  const policyFile = values.policy ?? config?.get("policy_file");
  return {
    ...(config === undefined ? {} : await configuredServer(config)),
    ...chosen,
    ...(policyFile === undefined ? {} : { policyRules: await policyRules(policyFile) }),
    ...(values.trace === undefined ? {} : { trace: await traceFile(values.trace) }),
    agents: await agentsFor(config, values.agent),
    cwd: resolve(values.cwd ?? "."),
    chosen: Object.keys(chosen),
  };
}

/** The user's configuration file; a user without one pays for nothing but the look. */
async function userConfig(): Promise<ConfigValues | undefined> {
  if (!existsSync(userConfigPath())) return undefined;
  const { UserConfig } = await import("@flint/server/config");
  const config = await new UserConfig(userConfigPath()).read();
  return config.entries().length === 0 ? undefined : config;
}

async function configuredServer(config: ConfigValues): Promise<ServerOptions> {
  const { configuredOptions } = await import("@flint/server/config");
  return configuredOptions(config);
}

/** The agents of the configuration, and one that is named by the command that starts it. */
async function agentsFor(config: ConfigValues | undefined, agent: string | undefined) {
  const { commandAgent, configuredAgents } = await import("@flint/server/config");
  const agents = configuredAgents(config);
  return agent === undefined || !isCommandLine(agent) ? agents : [...agents, commandAgent(agent)];
}

/** A command line has a space or a path in it; a name has neither. */
function isCommandLine(agent: string): boolean {
  return /[\s/]/.test(agent);
}

async function traceFile(path: string): Promise<AgentTraces> {
  const [{ TraceFile }, { secretsIn }] = await Promise.all([
    import("@flint/server/trace"),
    import("@flint/core"),
  ]);
  return TraceFile.open(resolve(path), { secrets: secretsIn(inheritedEnvironment()) });
}

async function policyRules(path: string): Promise<PolicyRules> {
  const { readPolicyFile } = await import("@flint/server/policy");
  return readPolicyFile(resolve(path));
}

/** Only what was given: an option that is left out must not hide what is configured. */
function chosenOptions(values: ServerFlagValues): ServerOptions {
  const all: ServerOptions = {
    model: modelOf(values),
    offlineAgents: values.offline === true && values.agent !== undefined ? true : undefined,
    approvalPolicy: values.approval === undefined ? undefined : approvalPolicy(values.approval),
    sandboxPolicy: values.sandbox === undefined ? undefined : sandboxPolicy(values.sandbox),
    durability: values.durability === undefined ? undefined : durability(values.durability),
    approvalTimeoutMs: seconds(values["approval-timeout"]),
    allowUnconfined: values["allow-unconfined"],
    autoResume: values["auto-resume"],
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** An agent alone means its own default model; with a model, the one of that agent. */
function modelOf({ agent, model, offline }: ServerFlagValues): string | undefined {
  // An agent of its own works on the offline model by itself; Flint's own has it as a model.
  if (offline === true && (agent === undefined || agent === "flint")) return OFFLINE_MODEL;
  if (agent === undefined) return model;
  const id = isCommandLine(agent) ? agentId(agent) : agent;
  return model === undefined || model.startsWith(`${id}/`) ? (model ?? id) : `${id}/${model}`;
}

function approvalPolicy(text: string): ApprovalPolicy {
  const parsed = ApprovalPolicy.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--approval takes ${ApprovalPolicy.options.join(", ")}; not ${JSON.stringify(text)}.`);
}

function sandboxPolicy(text: string): SandboxPolicy {
  const parsed = SandboxShorthand.safeParse(text);
  if (parsed.success) return sandboxPolicyOf(parsed.data);
  const known = SandboxShorthand.options.filter((name) => name.includes("-"));
  throw new UsageError(`--sandbox takes ${known.join(", ")}; not ${JSON.stringify(text)}.`);
}

function durability(text: string): Durability {
  if (text === "full" || text === "relaxed") return text;
  throw new UsageError(`--durability takes full or relaxed; not ${JSON.stringify(text)}.`);
}

/** What `--idle-exit` was given: seconds, 0 for never. */
export function idleSeconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= LONGEST_IDLE) return value;
  throw new UsageError(
    `--idle-exit takes a number of seconds from 0 (never) to ${LONGEST_IDLE}; not ${JSON.stringify(text)}.`,
  );
}

/** What a timer of Node can wait for, in seconds. */
const LONGEST_IDLE = 2_000_000;

function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value * 1000;
  throw new UsageError(`--approval-timeout takes a number of seconds above 0; not ${JSON.stringify(text)}.`);
}
