import {
  type Decision,
  type EventData,
  FlintError,
  type HarnessApprovalRequest,
  type HarnessDecision,
  type HarnessItem,
  isId,
} from "@flint/protocol";
import { itemOf } from "./items.ts";

/** What each answer of this wire means. */
const DECISIONS: Readonly<Record<HarnessDecision, Decision>> = {
  once: { outcome: "allow", scope: "once" },
  always: { outcome: "allow", scope: "always" },
  reject: { outcome: "deny", scope: "once" },
};

/** No id holds it, so a request id comes apart in one way only. */
const SEPARATOR = ".";

/** The decision that a client's word means. */
export function decisionOf(word: HarnessDecision): Decision {
  return DECISIONS[word];
}

/** The word of this wire that comes nearest to a decision, however it was made. */
export function wordOf(decision: Decision): HarnessDecision {
  if (decision.outcome !== "allow") return "reject";
  return decision.scope === "once" ? "once" : "always";
}

/** The one name of an approval on this wire, where the answer does not name the thread. Opaque to clients. */
export function requestIdOf(threadId: string, approvalId: string): string {
  return `${threadId}${SEPARATOR}${approvalId}`;
}

/** The approval that a request id names. Throws `approvalNotFound` for what was never one of ours. */
export function approvalNamedBy(requestId: string): { threadId: string; approvalId: string } {
  const [threadId = "", approvalId = "", ...rest] = requestId.split(SEPARATOR);
  if (isId(threadId) && isId(approvalId) && rest.length === 0) return { threadId, approvalId };
  throw new FlintError(
    "approvalNotFound",
    "No approval has this requestId; send it back exactly as `approval.requested` gave it.",
  );
}

/** What is asked of the client. */
export function requestOf({ threadId, approval }: EventData<"approval/requested">): HarnessApprovalRequest {
  return {
    requestId: requestIdOf(threadId, approval.id),
    threadId,
    turnId: approval.turnId,
    itemId: approval.action.itemId,
    action: approval.action,
    expiresAt: approval.expiresAtMs,
  };
}

/** The approval as an item, while it is open. */
export function openApproval({ threadId, approval }: EventData<"approval/requested">): HarnessItem {
  const requestId = requestIdOf(threadId, approval.id);
  return itemOf(
    "approval",
    { threadId, turnId: approval.turnId, itemId: requestId },
    {
      requestId,
      toolItemId: approval.action.itemId,
      action: approval.action,
    },
  );
}

/** The approval as an item, with the answer it got and who gave it. */
export function settledApproval(data: EventData<"approval/resolved">): HarnessItem {
  const { threadId, turnId, approvalId, itemId, resolution } = data;
  const requestId = requestIdOf(threadId, approvalId);
  return itemOf(
    "approval",
    { threadId, turnId, itemId: requestId },
    {
      requestId,
      toolItemId: itemId,
      decision: wordOf(resolution.decision),
      by: resolution.by,
      resolution: resolution.decision,
    },
  );
}
