import { costAt, type Price, type PriceList } from "@flint/agent/prices";
import type { AgentCapabilities, DriverEvent, PassedSetting, Sandbox, UsageReports } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { Trace } from "@flint/rpc";
import type { AgentPackage } from "./agent-packages.ts";
import type { AgentProjectFiles } from "./folders/project-files.ts";

/** The variables that name an agent's program where it is not on PATH. */
export type ExecutableVariable = "CLAUDE_CODE_EXECUTABLE" | "CODEX_EXECUTABLE";

/** The way in which a user logs in to an agent. */
export interface AgentLogin {
  /** The command line that asks for the login, in a terminal. */
  readonly command: string;
  /** All ways to log in, in one line. `flint acp --login` also finds programs that Flint installed, outside of PATH. */
  readonly hint: string;
  /** The command line that logs out. */
  readonly logout?: string;
}

/** The facts known about an agent without loading its driver. All other code reads these facts from here. */
export interface AgentDescriptor {
  /** The part of its model ids before the slash, and its name in the configuration. */
  readonly id: string;
  /** The id of the known agent that it is another instance of. */
  readonly kind?: string;
  readonly displayName: string;
  /** The provider of its models, such as `anthropic`; its own notifications begin with it. */
  readonly provider: string;
  /** Its capabilities. */
  readonly capabilities: AgentCapabilities;
  /** Its program, where none is configured, and the arguments that always come first. */
  readonly command: readonly string[];
  readonly executableVariable?: ExecutableVariable;
  /** The variable that names its own folder, where it can be moved. */
  readonly homeVariable?: string;
  /** The user's environment variables that it gets and no other agent does. */
  readonly ownVariables: RegExp;
  /** Evidence that it has credentials: a variable that is set, or a file in the user's home folder. */
  readonly credentials: { readonly variables: readonly string[]; readonly files: readonly string[] };
  /** The package that `flint agents install` fetches, and the version that Flint is tested with. */
  readonly package?: AgentPackage | undefined;
  /** The options and commands of its program that Flint uses, as `--help` lists them. */
  readonly usedOptions?: readonly string[];
  /** The command line that installs it, where there is one. */
  readonly install: string | undefined;
  readonly login: AgentLogin | undefined;
  /** Host rules of its model, its login and its own services: a confined agent connects to them without a question. */
  readonly hosts: readonly string[];
  /** The usage that it reports, where no price is known for its model. */
  readonly usageReports: UsageReports;
  /** The optional settings of a thread that it has. */
  readonly passedSettings: readonly PassedSetting[];
  /** The files of a project that steer it, and their treatment until they are trusted. */
  readonly project: AgentProjectFiles;
  /** True if it requests approval of each action that may write, unless the approval policy is "never". */
  readonly asksToWrite: boolean;
  /** True if its process can be stopped while a thread is idle: its sessions can be resumed by another process. */
  readonly stopsWhenIdle: boolean;
}

/** Hosts of Claude's models and its login. A cloud in between is asked about: others store data there, too. */
export const CLAUDE_HOSTS: readonly string[] = [
  ...["api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"],
];

/** The variables that Claude takes its key from. */
export const CLAUDE_KEYS: readonly string[] = [
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
];

/** Hosts of Codex's models and its login. */
export const CODEX_HOSTS: readonly string[] = ["api.openai.com", "auth.openai.com", "chatgpt.com"];

/**
 * The features that Codex does without in a sandbox: it stores shell snapshots and plugins where a command could write them,
 * and runs them later outside of any sandbox. It also fetches a list of plugins from a host that has nothing to do with the
 * user's work.
 */
export const CODEX_UNCONFINED_FEATURES: readonly string[] = ["shell_snapshot", "plugins"];

/** The error of a thread whose agent is not installed; it explains how to install the agent. */
export function notInstalled(agent: AgentDescriptor, leftOut?: string): FlintError {
  const { displayName, command, install, executableVariable } = agent;
  const [program = displayName] = command;
  const own = agent.package === undefined ? "" : `\`flint agents install ${agent.id}\` or `;
  const how = install === undefined ? `so that ${program} is on PATH` : `with ${own}\`${install}\``;
  const where =
    executableVariable === undefined
      ? `set agents.${agent.id}.command in your configuration`
      : `set ${executableVariable} to its program`;
  const other = leftOut === undefined ? "" : ` ${ignoredProgramReason(leftOut, agent.id)}`;
  const message = `${displayName} was not found. Install it ${how}, or ${where}.${other}`;
  return new FlintError("agentFailed", message, { program });
}

/** Returns the reason a program on PATH is not used as an agent, and how to have it used. */
export function ignoredProgramReason(path: string, agent: string): string {
  return `${path} is not used, because it is in a project, and agents are not looked up there. To use it, set agents.${agent}.command to its path.`;
}

/** An agent's program for a thread in this folder, if any; rejects with a FlintError that explains how to install it. */
export async function requireProgram(
  options: Pick<AgentOptions, "program" | "leftOut">,
  agent: AgentDescriptor,
  workspace?: string,
): Promise<AgentProgram> {
  const program = await options.program(workspace);
  if (program === undefined) throw notInstalled(agent, await options.leftOut?.(workspace));
  return program;
}

/** An agent's program, and the variables that it gets beside those of every program. */
export interface AgentProgram {
  /** The program and the arguments that always come first. */
  readonly command: readonly string[];
  /**
   * The command that runs it outside of the sandbox, if it is a script whose first line would look for its
   * interpreter on PATH.
   */
  readonly interpreter?: readonly string[] | undefined;
  /** Variables that only this agent gets, such as its own key. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The command that starts an agent outside of the sandbox. */
export function outsideCommand({ command, interpreter }: AgentProgram): readonly string[] {
  return [...(interpreter ?? []), ...command];
}

/** Lifetime of a thread's process: as long as the thread is in use, or one turn. */
export type ProcessSpan = "thread" | "turn";

/** Options of every driver of an external agent. */
export interface AgentOptions {
  /**
   * Finds the agent's program; undefined if it is not installed. It is not looked up in the workspace. Cheap, because it
   * is called often.
   */
  program(workspace?: string): Promise<AgentProgram | undefined>;
  /** The program in a project that was left out, if the agent is not installed anywhere else. */
  leftOut?(workspace?: string): Promise<string | undefined>;
  /** The variables that its program gets, whether it is installed or not. Absent: only those of its program. */
  environment?(): Readonly<Record<string, string>>;
  /**
   * Reports whether it is known to have credentials, so that it can be the agent of threads that name none.
   */
  hasAccess?(): Promise<boolean>;
  /** The address of the offline model, which the agent uses instead of its own models. Starts the model if needed. */
  readonly offlineModel?: (() => Promise<string>) | undefined;
  /** The full id of its default model, if the user configured one. */
  readonly model?: string | undefined;
  /** Called with every line to and from the agent; it limits and redacts them itself. */
  readonly trace?: Trace | undefined;
  /** Flint's folder for the state of agents on the offline model; not below the system's temporary folder. */
  readonly stateFolder?: string | undefined;
  /** The sandbox for a process that no thread needs, for example to list models. */
  readonly sandbox?: Sandbox | undefined;
  /** Prices of models, for agents that do not report the cost of each call. */
  readonly prices?: PriceList | undefined;
  /**
   * Number of model steps after which a turn stops, to be continued. Only Claude has such a limit; absent:
   * none.
   */
  readonly stepLimit?: number | undefined;
  /** Defaults to "thread". Only Claude has the choice. */
  readonly processSpan?: ProcessSpan | undefined;
  /** The version of Flint that is sent to agents. */
  readonly version: string;
}

/** The variables of an agent that may not be installed. */
export async function agentEnvironment(options: AgentOptions): Promise<Readonly<Record<string, string>>> {
  return options.environment?.() ?? (await options.program())?.environment ?? {};
}

/** Reports whether a model with this price costs nothing. */
export function isFree({ input, output, cacheRead, cacheWrite }: Price): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

/** An event with the cost of its call by the price of its model, if it is about a call without a reported cost. */
export function withEstimate(event: DriverEvent, price: Price | undefined): DriverEvent {
  if (event.type !== "usage" || event.cost !== undefined || price === undefined) return event;
  return { ...event, estimate: costAt(price, event.last) };
}
