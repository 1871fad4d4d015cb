import type { ApprovalPolicy, Budget, SandboxPolicy, WorkspaceFile } from "@flint/protocol";
import type { McpServerConfig } from "./driver.ts";

/** What the trusted files of a workspace ask for. Whatever the user said when Flint was started is not among it. */
export interface WorkspaceConfig {
  readonly model?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  readonly budget?: Budget | undefined;
  readonly mcpServers: readonly McpServerConfig[];
  /** What the user should know, such as a file that is ignored because nobody trusts it yet. */
  readonly notices: readonly string[];
}

/**
 * The files with which a workspace could steer Flint. None has any effect before the user trusted its exact content,
 * and a change takes the trust away.
 */
export interface Workspaces {
  /** What holds in a folder. Never rejects: what cannot be read has no effect and is among the notices. */
  configOf(cwd: string): Promise<WorkspaceConfig>;
  /** The files there are, with their content and whether it is trusted. */
  files(cwd: string): Promise<readonly WorkspaceFile[]>;
  /** Trusts exactly this content of these files. Rejects with `invalidParams` if one of them has another by now. */
  trust(cwd: string, files: readonly Pick<WorkspaceFile, "path" | "sha256">[]): Promise<void>;
  /** Takes the trust in all files of a folder away. */
  distrust(cwd: string): Promise<void>;
}

/** Workspaces without a say. */
export const NO_WORKSPACE_CONFIG: Workspaces = {
  configOf: async () => ({ mcpServers: [], notices: [] }),
  files: async () => [],
  trust: async () => undefined,
  distrust: async () => undefined,
};
