import { join } from "node:path";
import {
  type ApprovalPolicy,
  type Budget,
  changedBudget,
  type GitMode,
  type NetworkPermission,
  type SandboxPolicy,
  type ThreadSettings,
} from "@flint/protocol";
import { DEFAULT_POLICIES } from "@flint/server/config";
import { setting, stateFolder } from "@flint/server/environment";
import { TrustFile, WorkspaceFiles } from "@flint/server/workspace";
import type { PlacedOptions } from "../../command-line/server-options.ts";
import type { ExecOptions } from "./options.ts";

/** The permissions and the budget of a turn, and the model of a new thread. */
export interface Permissions {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxPolicy: SandboxPolicy;
  readonly network: NetworkPermission;
  readonly git: GitMode;
  readonly acceptEdits: boolean;
  readonly budget?: Budget | undefined;
  /** Undefined if none is configured: the server then chooses one. */
  readonly model?: string | undefined;
}

/**
 * The permissions that a new thread in a folder would have: from the command line, else from the folder's trusted files,
 * else from the user's configuration.
 */
export async function permissionsIn(cwd: string, server: PlacedOptions): Promise<Permissions> {
  const userRoot = server.userRoot ?? server.root ?? stateFolder();
  const workspaces = new WorkspaceFiles(new TrustFile(join(userRoot, "trust.json")), {
    fixed: new Set(server.chosen),
  });
  const here = await workspaces.configOf(cwd);
  return {
    approvalPolicy: here.approvalPolicy ?? server.approvalPolicy ?? DEFAULT_POLICIES.approvalPolicy,
    sandboxPolicy: here.sandboxPolicy ?? server.sandboxPolicy ?? DEFAULT_POLICIES.sandboxPolicy,
    network: server.network ?? { hosts: [] },
    git: server.git ?? "ask",
    acceptEdits: server.acceptEdits ?? false,
    // A model in the environment is the user's choice, which a folder does not change.
    model: (setting("FLINT_MODEL") === undefined ? here.model : undefined) ?? server.model,
    budget: here.budget === undefined ? server.budget : changedBudget(server.budget, here.budget),
  };
}

/** The budget to send with a turn: drops the limits of an earlier run and keeps the configured ones. */
export function turnBudget(
  configured: Budget | undefined,
  { limits, enforcement }: Partial<Pick<ExecOptions, "limits" | "enforcement">>,
  current: Budget | undefined,
): Budget {
  const thread = configured?.thread ?? {};
  const chosen = enforcement ?? configured?.enforcement ?? (current?.enforcement && "strict");
  return {
    ...(chosen === undefined ? {} : { enforcement: chosen }),
    turn: { ...configured?.turn, ...limits },
    // Sent only if it differs: sending a budget again resets what the user has allowed beyond it.
    ...(isSame(thread, current?.thread ?? {}) ? {} : { thread }),
  };
}

function isSame(one: object, other: object): boolean {
  const sorted = (amounts: object) => JSON.stringify(Object.entries(amounts).sort());
  return sorted(one) === sorted(other);
}

/** A warning if approvals or the sandbox are off; undefined otherwise. */
export function permissionWarning({
  approvalPolicy,
  sandboxPolicy,
}: Pick<ThreadSettings, "approvalPolicy" | "sandboxPolicy">): string | undefined {
  const noApprovals = approvalPolicy === "never";
  const noSandbox = sandboxPolicy.type === "dangerFullAccess";
  if (noApprovals && noSandbox) return "Approvals and the sandbox are off.";
  if (noApprovals) return "Approvals are off.";
  return noSandbox ? "The sandbox is off." : undefined;
}
