import type { AgentPermissions, SettingsLocks } from "@flint/core";
import type { Clock, Driver, McpServerConfig, PolicyRules } from "@flint/core/ports";
import type { NativeOptions } from "@flint/drivers";
import type {
  ApprovalPolicy,
  Budget,
  GitMode,
  LimitPolicy,
  NetworkPermission,
  SandboxPolicy,
} from "@flint/protocol";
import type { Trace } from "@flint/rpc";
import type { DiskSettings, NoticeOptions } from "@flint/tasks";
import type { ConfiguredAgent } from "./config/agents.ts";
import type { FleetOptions, WorkerSettings } from "./fleet/fleet-options.ts";

/** The failure that a completed turn survives: a power failure, or only the end of the process. */
export type Durability = "full" | "relaxed";

/** Records the messages to and from agents. */
export interface AgentTraces {
  of(agent: string): Trace;
  close(): void;
}

/** Options for running tasks; absent ones have their default. */
export interface TaskOptions {
  /** Maximum number of tasks that run at once. */
  readonly concurrency?: number | undefined;
  /** Time for which a question of an agent may wait for a client before the task itself asks. */
  readonly askMs?: number | undefined;
  /** The place of the tasks, if several machines share them; this machine if absent. */
  readonly fleet?: FleetOptions | undefined;
  /** Makes this process a worker of a fleet, which answers nothing and runs tasks. */
  readonly worker?: WorkerSettings | undefined;
  /** The reaction to a usage limit, for tasks that do not choose one. */
  readonly limits?: Partial<LimitPolicy> | undefined;
  /** The git remote of tasks that do not name one. */
  readonly remote?: string | undefined;
  /** Limits on the disk space of the worktrees. */
  readonly disk?: DiskSettings | undefined;
  /** Destinations of notifications to the user. */
  readonly notices?: NoticeOptions | undefined;
}

/** The options of a server; what is absent has its documented default. */
export interface ServerOptions {
  /** The folder that threads are stored in. */
  readonly root?: string | undefined;
  /**
   * The folder of the user's rules and trusted files; `root` by default. Never inside a workspace, which could contain
   * such a folder.
   */
  readonly userRoot?: string | undefined;
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  /** The hosts that commands may connect to; the user is asked about others if absent. */
  readonly network?: NetworkPermission | undefined;
  /** Mode for adding commits of sandboxed agents to the repository; the user is asked if absent. */
  readonly git?: GitMode | undefined;
  /** True if changes of files in the workspace need no approval. */
  readonly acceptEdits?: boolean | undefined;
  /** The permissions of new threads with an agent that has its own, by its id. */
  readonly agentPermissions?: ReadonlyMap<string, AgentPermissions> | undefined;
  readonly budget?: Budget | undefined;
  readonly durability?: Durability | undefined;
  /** Lets clients turn off approvals and the sandbox together; true by default for a server started that way. */
  readonly allowUnconfined?: boolean | undefined;
  /** Settings that the administrator of the machine has locked. */
  readonly locks?: SettingsLocks | undefined;
  readonly approvalTimeoutMs?: number | undefined;
  /**
   * Time for which an agent may report nothing while its model is expected to respond; 15 minutes if absent.
   */
  readonly silenceMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** A notice for its first client, such as why it is not the server that runs already. */
  readonly notice?: string | undefined;
  readonly backgroundMs?: number | undefined;
  /** Lets clients of a port provide MCP servers that are programs, which run on this machine. */
  readonly allowRemoteMcp?: boolean | undefined;
  /** True if the first new session of an editor in a folder continues its last one there. */
  readonly autoResume?: boolean | undefined;
  /** True if commands that nothing confines run in the terminal of an editor that offers one. */
  readonly clientTerminal?: boolean | undefined;
  /** True if files are read and written through an editor that offers both. */
  readonly clientFs?: boolean | undefined;
  /** Answers approvals in unattended runs. */
  readonly policyRules?: PolicyRules | undefined;
  /** The names of the options above that the user chose, so that no workspace changes them; all that are set by default. */
  readonly chosen?: readonly string[] | undefined;
  /** The user's MCP servers. */
  readonly mcpServers?: readonly McpServerConfig[] | undefined;
  /** The options of Flint's own agent; from the environment if absent. */
  readonly native?: NativeOptions | undefined;
  /** The agents besides Flint's own; those that Flint knows by name if absent. */
  readonly agents?: readonly ConfiguredAgent[] | undefined;
  /** Runs those agents on the offline model instead of their own. */
  readonly offlineAgents?: boolean | undefined;
  /** Records the messages to and from those agents. */
  readonly trace?: AgentTraces | undefined;
  /** The place of the tasks of several machines; only the server that runs tasks uses it. */
  readonly fleet?: FleetOptions | undefined;
  /** Set if this server runs tasks; only one server of a state folder may. */
  readonly tasks?: TaskOptions | undefined;
  /** The user's settings for tasks, for a server that runs them. */
  readonly taskSettings?: TaskOptions | undefined;
  /** Drivers to use instead of all of these. */
  readonly drivers?: readonly Driver[] | undefined;
  /** Strings to redact from logs and responses, besides the keys in the environment. */
  readonly secrets?: readonly string[] | undefined;
  /** The paths of the sockets that this server listens on; no sandboxed command can reach them. */
  readonly ownSockets?: readonly string[] | undefined;
  readonly clock?: Clock | undefined;
}
