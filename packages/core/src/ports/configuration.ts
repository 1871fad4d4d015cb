import type {
  Action,
  ApprovalPolicy,
  Budget,
  Rule,
  SandboxPolicy,
  UsageLimit,
  WorkspaceFile,
} from "@flint/protocol";
import type { McpServerConfig } from "./driver.ts";
import { NO_STEERING, type Steering } from "./steering.ts";

/** The configuration in the trusted files of a workspace, without anything that the user set when starting Flint. */
export interface WorkspaceConfig {
  readonly model?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  readonly budget?: Budget | undefined;
  readonly mcpServers: readonly McpServerConfig[];
  /** Notices for the user, such as a file that is ignored because it is not trusted. */
  readonly notices: readonly string[];
}

/**
 * The configuration files of workspaces. None has any effect before the user has trusted its exact content, and a
 * change revokes the trust.
 */
export interface Workspaces {
  /** The configuration of a folder. Never rejects: what cannot be read has no effect and is among the notices. */
  configOf(cwd: string): Promise<WorkspaceConfig>;
  /**
   * Returns the files that steer an agent that reads these paths of its project, in a folder and those above
   * it. Never rejects.
   */
  steering(cwd: string, paths: readonly string[]): Promise<Steering>;
  /** Variables that keep git from running what an untrusted repository names. Never rejects. */
  gitVariables(cwd: string): Promise<Readonly<Record<string, string>>>;
  /**
   * Returns the reason a program must not be started as an MCP server now, because agents can write its files
   * and their content is not trusted; undefined if it may be. To be called before each start. Never rejects.
   */
  mcpProblem(server: McpServerConfig, cwd: string, roots: readonly string[]): Promise<string | undefined>;
  /** The files of a folder, with their content and whether it is trusted. */
  files(cwd: string): Promise<readonly WorkspaceFile[]>;
  /** Trusts exactly this content of these files. Rejects with `invalidParams` if one of them has changed. */
  trust(cwd: string, files: readonly Pick<WorkspaceFile, "path" | "sha256">[]): Promise<void>;
  /** Revokes the trust in all files of a folder. */
  distrust(cwd: string): Promise<void>;
}

/** Workspaces without configuration. */
export const NO_WORKSPACE_CONFIG: Workspaces = {
  configOf: async () => ({ mcpServers: [], notices: [] }),
  steering: async () => NO_STEERING,
  gitVariables: async () => ({}),
  mcpProblem: async () => undefined,
  files: async () => [],
  trust: async () => undefined,
  distrust: async () => undefined,
};

/** The rules of one project folder. */
export interface ProjectRules {
  readonly applying: readonly Rule[];
  /** Made in a folder that another one at the same path has replaced since. They allow nothing. */
  readonly replaced: readonly Rule[];
}

/**
 * Actions that are always allowed, by project and agent. Shared by all servers with the same state folder.
 */
export interface Rules {
  /** All stored rules, oldest first, including those whose folder was replaced. */
  list(): readonly Rule[];
  /** The rules of the folder that is at this path now. */
  forProject(project: string): ProjectRules;
  /** Adds a rule, unless another rule of the same project and agent covers it already. */
  add(rule: Rule): void;
  /** Removes a rule. False if there is none with this id. */
  remove(id: string): boolean;
  /** Stored rules that do not apply, each with the reason. Absent: none. */
  problems?(): readonly string[];
}

/** The usage limits of accounts as last reported. Shared by all servers with the same state folder. */
export interface LimitStore {
  read(): readonly UsageLimit[];
  /** Replaces them. Never throws. */
  write(limits: readonly UsageLimit[]): void;
}

/** The decision of a rule about an action, with the rule. */
export interface RuleDecision {
  readonly decision: "allow" | "ask" | "deny";
  /** Names the rule and where it is written. */
  readonly reason: string;
}

/** Rules of a policy file, for unattended runs. */
export interface PolicyRules {
  /** The strictest decision of any rule about the action; undefined if none matches. Must not throw. */
  judge(action: Action, agent: string, cwd: string): RuleDecision | undefined;
  /** Fallback for an action that no rule matches and that needs approval: it is asked about or declined. */
  readonly unanswered: "ask" | "decline";
  /** The file that holds the rules, for messages. */
  readonly source: string;
  /** Host rules that no command may connect to, whatever else allows them. Absent: none. */
  readonly deniedHosts?: readonly string[];
  /** Rules that name the private addresses of hosts. What may connect to these hosts is judged for itself. Absent: none. */
  readonly addressRules?: readonly string[];
}
