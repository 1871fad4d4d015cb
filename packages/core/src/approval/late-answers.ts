import {
  type Action,
  type Approval,
  type Decision,
  describeGrant,
  type Grant,
  type RuleSubject,
  type ThreadState,
} from "@flint/protocol";

/**
 * Time for which an answer still counts after its approval has ended, and for which its grant can be used.
 */
const LATE_MS = 24 * 60 * 60_000;

/**
 * Returns the grant of an answer that comes after its approval has expired or its turn has ended: exactly the
 * command or the change of files that was asked about, once, for the same agent. Undefined if the approval is
 * open or unknown, and for calls of tools.
 */
export function lateGrant(
  { lapsedApprovals }: Pick<ThreadState, "lapsedApprovals">,
  approvalId: string,
  { outcome }: Decision,
  now: number,
): Grant | undefined {
  const approval = lapsedApprovals.find(({ id }) => id === approvalId);
  if (approval === undefined || outcome !== "allow" || now > approval.expiresAtMs + LATE_MS) return undefined;
  return onceGrant(approval, now);
}

/** A grant for one time of exactly what was asked about. Undefined for calls of tools. */
export function onceGrant(
  { id, action, project, agent }: Pick<Approval, "id" | "action" | "project" | "agent">,
  now: number,
): Grant | undefined {
  if (action.kind === "tool" || project === undefined) return undefined;
  const subject = action.kind === "command" ? commandSubject(action) : changeSubject(action);
  const by = agent === undefined ? {} : { agent };
  const words = describeGrant(subject);
  return {
    ...{ id, project, ...by, ...subject, scope: "once", words },
    ...{ grantedAt: now, expiresAt: now + LATE_MS },
  };
}

function commandSubject({ command, cwd, needs, running }: Extract<Action, { kind: "command" }>): RuleSubject {
  return {
    // Only the connection of a running command was asked about, not the command.
    tool: running === true ? "network" : "command",
    match: { type: "exact", command, cwd },
    ...(needs === undefined ? {} : { permission: needs }),
  };
}

/** The change itself and not its files, because a grant of a file covers any change to it. */
function changeSubject({ changes, needs }: Extract<Action, { kind: "fileChange" }>): RuleSubject {
  const permission = needs === undefined ? {} : { permission: needs };
  return { tool: "fileChange", match: { type: "exact", arguments: changes }, ...permission };
}
