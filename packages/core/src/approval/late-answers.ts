import {
  type Decision,
  describeGrant,
  type Grant,
  type RuleSubject,
  type ThreadState,
} from "@flint/protocol";

/** How long an answer still counts after its approval has ended, and how long what it allows can be used. */
const LATE_MS = 24 * 60 * 60_000;

/**
 * What an answer allows that comes after its approval has expired or its turn has ended: exactly the command that was
 * asked about, once, for the same agent. Undefined if the approval is open or unknown, and for anything but a command.
 */
export function lateGrant(
  { lapsedApprovals }: Pick<ThreadState, "lapsedApprovals">,
  approvalId: string,
  { outcome }: Decision,
  now: number,
): Grant | undefined {
  const approval = lapsedApprovals.find(({ id }) => id === approvalId);
  if (approval === undefined || outcome !== "allow" || now > approval.expiresAtMs + LATE_MS) return undefined;
  const { action, project, agent } = approval;
  if (action.kind !== "command" || project === undefined) return undefined;
  const { command, cwd, needs, running } = action;
  const subject: RuleSubject = {
    // Only the connection of a running command was asked about, not the command.
    tool: running === true ? "network" : "command",
    match: { type: "exact", command, cwd },
    ...(needs === undefined ? {} : { permission: needs }),
  };
  const by = agent === undefined ? {} : { agent };
  const words = describeGrant(subject);
  return {
    ...{ id: approvalId, project, ...by, ...subject, scope: "once", words },
    ...{ grantedAt: now, expiresAt: now + LATE_MS },
  };
}
