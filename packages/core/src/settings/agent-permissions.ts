import type {
  ApprovalPolicy,
  GitMode,
  NetworkPermission,
  SandboxPolicy,
  ThreadSettings,
} from "@flint/protocol";
import { APPROVALS, GIT_MODES, SANDBOXES } from "./settings-locks.ts";

/** The permissions that the user configured for one agent; what is absent is as for every agent. */
export interface AgentPermissions {
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  readonly network?: NetworkPermission | undefined;
  readonly git?: GitMode | undefined;
  readonly acceptEdits?: boolean | undefined;
}

/** The settings of a new thread with the permissions of its agent. */
export function withPermissions(settings: ThreadSettings, permissions: AgentPermissions): ThreadSettings {
  const { approvalPolicy, sandboxPolicy, network, git, acceptEdits } = permissions;
  return {
    ...settings,
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy }),
    ...(network === undefined ? {} : { network }),
    ...(git === undefined ? {} : { git }),
    ...(acceptEdits === undefined ? {} : { acceptEdits }),
  };
}

/** The settings of a thread that another agent continues: its permissions apply where they allow less, never more. */
export function narrowedTo(settings: ThreadSettings, permissions: AgentPermissions): ThreadSettings {
  const { approvalPolicy, sandboxPolicy, network, git, acceptEdits } = permissions;
  const asksMore =
    approvalPolicy !== undefined && APPROVALS[approvalPolicy] < APPROVALS[settings.approvalPolicy];
  const confinesMore =
    sandboxPolicy !== undefined && SANDBOXES[sandboxPolicy.type] < SANDBOXES[settings.sandboxPolicy.type];
  const addsLess = git !== undefined && GIT_MODES[git] < GIT_MODES[settings.git ?? "ask"];
  return withPermissions(settings, {
    approvalPolicy: asksMore ? approvalPolicy : undefined,
    sandboxPolicy: confinesMore ? sandboxPolicy : undefined,
    network: network === undefined ? undefined : fewerHosts(settings.network, network),
    git: addsLess ? git : undefined,
    acceptEdits: acceptEdits === false && settings.acceptEdits === true ? false : undefined,
  });
}

/** Returns the hosts that both allow; undefined if that is what the thread has. */
function fewerHosts(
  current: NetworkPermission | undefined,
  limit: NetworkPermission,
): NetworkPermission | undefined {
  if (current === undefined || current === "none" || limit === "all")
    return limit === "none" ? "none" : undefined;
  if (limit === "none" || current === "all") return limit;
  return { hosts: current.hosts.filter((host) => limit.hosts.includes(host)) };
}
