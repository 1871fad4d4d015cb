import type { Clock, Driver, McpServerConfig, PolicyRules } from "@flint/core/ports";
import type { NativeOptions } from "@flint/drivers";
import type { ApprovalPolicy, Budget, SandboxPolicy } from "@flint/protocol";
import type { Trace } from "@flint/rpc";
import type { ConfiguredAgent } from "./config/agents.ts";

/** What `turn/completed` promises: that it survives a power cut, or only the end of the process. */
export type Durability = "full" | "relaxed";

/** Keeps what is said to and by agents. */
export interface AgentTraces {
  of(agent: string): Trace;
  close(): void;
}

/** What can be chosen about a server; the rest is as the documentation says. */
export interface ServerOptions {
  /** Where threads are kept. */
  readonly root?: string | undefined;
  /**
   * Where it is kept what the user allowed and trusted; the same folder unless told. Never inside a workspace, which
   * could bring its own.
   */
  readonly userRoot?: string | undefined;
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  readonly budget?: Budget | undefined;
  readonly durability?: Durability | undefined;
  /** Lets clients choose to be asked nothing and to confine nothing. Starting a server like that is such a choice too. */
  readonly allowUnconfined?: boolean | undefined;
  readonly approvalTimeoutMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly backgroundMs?: number | undefined;
  /** Lets clients of a port bring MCP servers that are programs, which run on this machine outside the sandbox. */
  readonly allowRemoteMcp?: boolean | undefined;
  /** Whether the first new session of an editor in a folder goes on with the last one that it had there. */
  readonly autoResume?: boolean | undefined;
  /** Answers to approvals when nobody is there. */
  readonly policyRules?: PolicyRules | undefined;
  /** Which of the above the user said when starting Flint, so that no workspace changes them; all unless told. */
  readonly chosen?: readonly string[] | undefined;
  /** The user's MCP servers. */
  readonly mcpServers?: readonly McpServerConfig[] | undefined;
  /** What Flint's own agent may use; from the environment if it is not given. */
  readonly native?: NativeOptions | undefined;
  /** The agents that may be on this machine beside Flint's own; the ones Flint knows by name unless told. */
  readonly agents?: readonly ConfiguredAgent[] | undefined;
  /** Lets those agents work on the offline model instead of their own. */
  readonly offlineAgents?: boolean | undefined;
  /** Where the lines to and from those agents are kept. */
  readonly trace?: AgentTraces | undefined;
  /** Drivers in place of all of these. */
  readonly drivers?: readonly Driver[] | undefined;
  /** Texts that are kept out of logs and answers, beside the keys in the environment. */
  readonly secrets?: readonly string[] | undefined;
  /** The paths of the sockets that this server listens at; no command reaches them, wherever they lie. */
  readonly ownSockets?: readonly string[] | undefined;
  readonly clock?: Clock | undefined;
}
