import type { Decision } from "@flint/protocol";
import type { CodexCommandDecision, CodexFileDecision, CodexReviewDecision } from "@flint/protocol/codex";

/**
 * How a command is answered. A yes for the session is kept by Codex for the very same command; one for always is kept
 * by Flint, which is asked again and so can take it back.
 */
export function commandDecision(decision: Decision): CodexCommandDecision {
  if (decision.outcome !== "allow") return refusal(decision);
  return decision.scope === "session" && decision.rule === undefined ? "acceptForSession" : "accept";
}

/** How a change of files is answered. Codex would keep a yes for the session for any change of these files. */
export function fileDecision(decision: Decision): CodexFileDecision {
  return decision.outcome === "allow" ? "accept" : refusal(decision);
}

/** How the older requests are answered. */
export function reviewDecision(decision: Decision): CodexReviewDecision {
  switch (decision.outcome) {
    case "allow":
      return decision.scope === "session" && decision.rule === undefined
        ? "approved_for_session"
        : "approved";
    case "deny":
      return { denied: { rejection: decision.message ?? "The user declined." } };
    case "cancel":
      return "abort";
  }
}

function refusal({ outcome }: Decision): "decline" | "cancel" {
  return outcome === "cancel" ? "cancel" : "decline";
}
