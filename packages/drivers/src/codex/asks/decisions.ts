import type { Decision } from "@flint/protocol";
import type {
  CodexCommandDecision,
  CodexFileDecision,
  CodexReviewDecision,
  CodexServerResult,
} from "@flint/protocol/codex";

/** The metadata of a decision for always if Codex itself should store the rule that it proposed. */
export const AMENDMENT = "codex/execpolicyAmendment";

/**
 * The decision about a command. Codex keeps an approval for the session for the very same command; Flint keeps one for
 * always itself, is asked again, and so can revoke it. A rule of Codex applies in all folders, outside of Flint too, and
 * without any sandbox of Codex, so it is only made of what Codex proposed, and only on explicit request.
 */
export function commandDecision(decision: Decision, proposed?: readonly string[]): CodexCommandDecision {
  if (decision.outcome !== "allow") return refusal(decision);
  if (includesAmendment(decision, proposed))
    return { acceptWithExecpolicyAmendment: { execpolicy_amendment: [...proposed] } };
  return decision.scope === "session" && decision.rule === undefined ? "acceptForSession" : "accept";
}

/** The decision about a file change. Codex would keep an approval for the session for any change of these files. */
export function fileDecision(decision: Decision): CodexFileDecision {
  return decision.outcome === "allow" ? "accept" : refusal(decision);
}

/** The decision about one of the older requests. */
export function reviewDecision(decision: Decision, proposed?: readonly string[]): CodexReviewDecision {
  switch (decision.outcome) {
    case "allow":
      if (includesAmendment(decision, proposed))
        return { approved_execpolicy_amendment: { proposed_execpolicy_amendment: [...proposed] } };
      return decision.scope === "session" && decision.rule === undefined
        ? "approved_for_session"
        : "approved";
    case "deny":
      return { denied: { rejection: decision.message ?? "The user declined." } };
    case "cancel":
      return "abort";
  }
}

/** The decision about the use of a skill. */
export function skillDecision({ outcome }: Decision): CodexServerResult<"skill/requestApproval">["decision"] {
  return outcome === "allow" ? "approve" : "decline";
}

function includesAmendment(
  { scope, _meta: meta }: Decision,
  proposed: readonly string[] | undefined,
): proposed is readonly string[] {
  return scope === "always" && meta?.[AMENDMENT] === true && proposed !== undefined && proposed.length > 0;
}

function refusal({ outcome }: Decision): "decline" | "cancel" {
  return outcome === "cancel" ? "cancel" : "decline";
}
