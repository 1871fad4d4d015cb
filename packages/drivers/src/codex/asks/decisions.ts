import type { Decision } from "@flint/protocol";
import type {
  CodexCommandDecision,
  CodexFileDecision,
  CodexReviewDecision,
  CodexServerResult,
} from "@flint/protocol/codex";

/** What an answer for always says, beside its own words, if Codex itself is to keep the rule that it proposed. */
export const AMENDMENT = "codex/execpolicyAmendment";

/**
 * How a command is answered. A yes for the session is kept by Codex for the very same command; one for always is kept
 * by Flint, which is asked again and so can take it back. A rule of Codex holds in all folders, outside of Flint too, and
 * without any sandbox of Codex; so it is made only of what Codex proposed, and only for who asks for just that.
 */
export function commandDecision(decision: Decision, proposed?: readonly string[]): CodexCommandDecision {
  if (decision.outcome !== "allow") return refusal(decision);
  if (wantsAmendment(decision, proposed))
    return { acceptWithExecpolicyAmendment: { execpolicy_amendment: [...proposed] } };
  return decision.scope === "session" && decision.rule === undefined ? "acceptForSession" : "accept";
}

/** How a change of files is answered. Codex would keep a yes for the session for any change of these files. */
export function fileDecision(decision: Decision): CodexFileDecision {
  return decision.outcome === "allow" ? "accept" : refusal(decision);
}

/** How the older requests are answered. */
export function reviewDecision(decision: Decision, proposed?: readonly string[]): CodexReviewDecision {
  switch (decision.outcome) {
    case "allow":
      if (wantsAmendment(decision, proposed))
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

/** How the use of a skill is answered; there are no other words for it. */
export function skillDecision({ outcome }: Decision): CodexServerResult<"skill/requestApproval">["decision"] {
  return outcome === "allow" ? "approve" : "decline";
}

function wantsAmendment(
  { scope, _meta: meta }: Decision,
  proposed: readonly string[] | undefined,
): proposed is readonly string[] {
  return scope === "always" && meta?.[AMENDMENT] === true && proposed !== undefined && proposed.length > 0;
}

function refusal({ outcome }: Decision): "decline" | "cancel" {
  return outcome === "cancel" ? "cancel" : "decline";
}
