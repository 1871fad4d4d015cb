import type {
  AgentFeature,
  BackgroundCommand,
  ClientTool,
  ConfigOption,
  ConfigValues,
  Cost,
  FolderHooks,
  FolderSkills,
  Model,
  ReportedLimit,
  Result,
  ThreadSettings,
  Turn,
  UserInput,
} from "@flint/protocol";
import type { Account, AccountControl } from "./account.ts";
import type { NativeSessions } from "./native-sessions.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Steering } from "./steering.ts";
import type { TurnContext, TurnOutcome } from "./turn-context.ts";

/**
 * One kind of agent. It may cache what its agents report about themselves; what runs for a thread is in its sessions.
 * A feature that an agent lacks is an absent method, not a flag.
 */
export interface Driver {
  /** The part of a model id before the slash. */
  readonly id: string;
  /** The kind of its agents, for one that is not named after its kind. */
  readonly kind?: string | undefined;
  /** Set if its agents call `approve` before anything that may change files; for others all files are saved first. */
  readonly asksFirst?: boolean;
  /** Set if its agents call `approve` for each action that may write, unless the approval policy is "never". */
  readonly asksToWrite?: boolean;
  /** Set if what its commands print says what the sandbox kept them from. For others, the core finds out and says it. */
  readonly explainsDenials?: boolean;
  /** Set if each session holds a process that can be stopped while the thread is idle and resumed by its session id. */
  readonly stopsWhenIdle?: boolean;
  /** The name of its agents for users. */
  readonly displayName?: string;
  /** The files and folders of a project that steer its agents, beside instructions for the model. */
  readonly projectFiles?: readonly string[];
  /** The models it offers; ids are `driver/model`. Must not start anything heavy. */
  models(): Promise<readonly Model[]>;
  /** The id of its default model, where that is known sooner than the whole list. */
  defaultModel?(): Promise<string>;
  /**
   * The full id of a model that can be used whether it is listed or not, also if the name leaves out the driver;
   * undefined if this driver does not recognize the name. Does no I/O. Throws a FlintError that says how to set it up.
   */
  qualify?(name: string): string | undefined;
  /**
   * Reports whether it can be the agent of new threads that name none: it is installed and has credentials.
   * Must not start anything. The first driver that returns true is used; if none does, the first in the list.
   */
  isPreferred?(): Promise<boolean>;
  /**
   * Returns the problem that keeps its agents from working in a folder, as far as that is known without
   * starting one. Absent: none.
   */
  setupProblem?(cwd: string): Promise<SetupProblem | undefined>;
  /** The selectors for a model, with `values` applied. One value may add, change or remove another selector. */
  options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]>;
  /** Returns the provider of a model, such as `anthropic`; absent: named like the driver. Does no I/O. */
  provider?(model: string): string;
  /** Returns the capabilities of its agents with a model. Absent: all. Does no I/O. */
  capabilities?(model: string): AgentCapabilities;
  /** The optional settings of a thread that it passes on to its agents with a model. Absent: none. */
  passedSettings?(model: string): readonly PassedSetting[];
  /** Starts or resumes the agent for one thread. Rejects with a FlintError that says how to set it up. */
  open(spec: SessionSpec): Promise<DriverSession>;
  /**
   * Returns what it reports of the usage of turns with a model. Absent: everything with each call, and calls
   * are free.
   */
  usageReports?(model: string): Promise<UsageReports>;
  /** The account that the agent works with. */
  account?(): Promise<Account>;
  /** Logs in and out. Absent: there is nothing to log in to. */
  accountControl?(): Promise<AccountControl | undefined>;
  /** The optional features of its agents, as they report them. Absent: none. */
  features?(): Promise<readonly AgentFeature[]>;
  /** The skills of its agents in a folder, without those of a project that may not steer them. Absent: none. */
  skills?(cwd: string, steering: Steering): Promise<FolderSkills>;
  /** The hooks that its agents run in a folder, without those of a project that may not steer them. Absent: none. */
  hooks?(cwd: string, steering: Steering): Promise<FolderHooks>;
  /** The plugins of its agents, with those of these folders. Absent: none. */
  plugins?(folders: readonly PluginFolder[], installedOnly: boolean): Promise<AgentPlugins>;
  /** The usage limits of its account, asked now; empty if it does not tell. Starts nothing. */
  limits?(): Promise<readonly ReportedLimit[]>;
  /** The agent's MCP servers, as far as they are known without starting it. */
  mcpServers?(): Promise<readonly McpServerStatus[]>;
  /** The sessions that its agent stores itself. Starts nothing. Absent: they cannot be read. */
  nativeSessions?(): Promise<NativeSessions | undefined>;
  /** Ends and removes what outlives its sessions. Called when the server ends, after the sessions were closed. */
  close?(): Promise<void>;
}

/** The plugins of an agent by marketplace, the marketplaces that cannot be read, and what the agent recommends. */
export type AgentPlugins = Omit<Result<"agent/plugins/list">, "agent" | "kind">;

/** A folder whose plugins are listed, and what of it may steer the agent. */
export interface PluginFolder {
  readonly cwd: string;
  readonly steering: Steering;
}

/**
 * A problem that keeps an agent from working, with the way out: it is not installed, or no login is known.
 */
export interface SetupProblem {
  readonly kind: "missing" | "login";
  readonly message: string;
}

/** Capabilities of an agent. Clients see them before they use it. */
export interface AgentCapabilities {
  readonly streaming: boolean;
  readonly configOptions: boolean;
  readonly reasoning: boolean;
  readonly plans: boolean;
  readonly review: boolean;
}

/** The capabilities of an agent that can do everything. */
export const ALL_CAPABILITIES: AgentCapabilities = {
  streaming: true,
  configOptions: true,
  reasoning: true,
  plans: true,
  review: true,
};

/** A setting of a thread that only some agents have. */
export type PassedSetting = "summary" | "personality";

/**
 * The time at which a driver reports what a limit counts: with each model call, at the end of the turn, or
 * never.
 */
export type ReportTime = "call" | "turn" | "never";

/** Reports of a driver on the usage of its turns. Working time is measured by the core. */
export interface UsageReports {
  readonly tokens: ReportTime;
  readonly steps: ReportTime;
  /** `free`: there is no cost to report. */
  readonly costUsd: ReportTime | "free";
  /** True if a price that the user configures for a model makes its cost known. */
  readonly usesPrices?: boolean;
}

/** The state of one of an agent's MCP servers. */
export interface McpServerStatus {
  readonly name: string;
  readonly status: "starting" | "ready" | "failed";
  readonly error?: string;
}

/** Start options of a session. */
export interface SessionSpec {
  readonly threadId: string;
  readonly settings: ThreadSettings;
  /** The agent's own id of the session to resume, if it had one. */
  readonly nativeId: string | undefined;
  /** Cost of that session when a driver last reported it. */
  readonly nativeCost?: Cost | undefined;
  /** The turns so far, for agents that keep no history themselves. */
  history(): Promise<readonly Turn[]>;
  /**
   * Summarizes what the agent's own session lacks, for agents that keep their history themselves: the turns that other
   * agents did since, or all turns if it has no session. Bounded; empty if the session has everything.
   */
  handoffSummary(): Promise<string>;
  /** A session to continue from a copy of: that of the thread it was forked from, or its own before turns were dropped. */
  readonly forkOf?: NativeFork | undefined;
  /** Requests a turn for work that the agent initiated. It starts as soon as no other turn runs, or is refused. */
  startTurn?(work: AgentInitiatedWork): void;
  /** The one way to start a command. */
  readonly sandbox: Sandbox;
  /** The MCP servers that the user configured for threads in this folder. */
  readonly mcpServers: readonly McpServerConfig[];
  /**
   * Returns the reason an MCP server must not be started now; undefined if it may be. Called before each
   * start. Absent: all may be.
   */
  mcpProblem?(server: McpServerConfig): Promise<string | undefined>;
  /** Reports to the user that an MCP server could not be started. */
  mcpFailed?(server: McpServerConfig, reason: string): void;
  /**
   * Returns the files of the project that steer the agent now. Called before each start of its process.
   * Absent: none do.
   */
  steering?(): Promise<Steering>;
  /** The tools that a client provides and runs itself; an agent calls them with `TurnContext.callTool`. Absent: none. */
  readonly clientTools?: readonly ClientTool[] | undefined;
}

/**
 * An agent's own session that has turns of this thread. Given only where there is no `nativeId`. A driver that can copy
 * it does so and continues in the copy, under a new id; the session itself is not changed. One that cannot, or whose
 * agent refuses, continues from `SessionSpec.handoffSummary`.
 */
export interface NativeFork {
  readonly nativeId: string;
  /**
   * The position at which the copy has to end; the whole session if absent. Only for drivers whose sessions
   * report a `position`.
   */
  readonly position?: string | undefined;
  /** Summarizes what the copy lacks of this thread: as `SessionSpec.handoffSummary`, but shorter. */
  handoffSummary(): Promise<string>;
}

/** Work that an agent began without a prompt, for example because one of its background tasks has ended. */
export interface AgentInitiatedWork {
  /** The reason it began, for the user. */
  readonly reason: string;
  /**
   * Reports whether it still needs a turn: its process may have ended, or another turn may have included it.
   */
  isWaiting(): boolean;
  /** Ends the work, because there will be no turn for it. */
  refuse(): void;
}

/** An MCP server to connect to. Comes from the user, or from a workspace file whose content the user trusted. */
export type McpServerConfig =
  | {
      readonly type: "stdio";
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Host rules that it connects to without a question; the user is asked about all others. */
      readonly network?: readonly string[];
      /** Paths that it may write beside the workspace. */
      readonly writable?: readonly string[];
    }
  | {
      readonly type: "http";
      readonly name: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** The agent of one thread. The core calls one `run` at a time. */
export interface DriverSession {
  /**
   * Runs one turn. Resolves with its outcome, never hangs after `turn.signal` is aborted, and leaves no process of this
   * turn behind when it settles, except background commands of a turn that completed. A rejection is a failed turn.
   */
  run(turn: TurnContext): Promise<TurnOutcome>;
  /** Adds input to the running turn. False: the turn takes no more input. Absent: the agent cannot be steered. */
  steer?(input: readonly UserInput[]): Promise<boolean>;
  /**
   * Reports whether a command that was granted more than the sandbox allows gets it when the agent runs it.
   * Absent: never.
   */
  canGrant?(): boolean;
  /** Reports whether background work continues between turns. Absent: never. */
  isBusy?(): boolean;
  /** The commands that run in the background now. Absent: the agent has none, or does not tell. */
  backgroundCommands?(): Promise<readonly BackgroundCommand[]>;
  /** Stops one of them and everything it started. False if it was not running. */
  stopBackgroundCommand?(processId: string): Promise<boolean>;
  /** Stops the agent and everything it started. */
  close(): Promise<void>;
}
