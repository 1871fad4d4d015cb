import type { Decision } from "@flint/protocol";
import { type JsonObject, listOf, objectOf, stringOf } from "../wire.ts";

/** What an agent is answered when it asked for a permission. */
export interface PermissionAnswer {
  readonly outcome:
    | { readonly outcome: "cancelled" }
    | { readonly outcome: "selected"; readonly optionId: string };
}

/** The answer for a turn that is over. */
export const CANCELLED: PermissionAnswer = { outcome: { outcome: "cancelled" } };

/**
 * The option that says what was decided. A yes is always a yes to this one call where the agent offers that: what an
 * agent means by "always" may cover more than was shown, while Flint remembers exactly what was allowed and answers for
 * the user next time.
 */
export function answerOf({ outcome }: Decision, request: JsonObject): PermissionAnswer {
  switch (outcome) {
    case "allow":
      return select(request, ["allow_once", "allow_always"]);
    case "deny":
      return select(request, ["reject_once", "reject_always"]);
    case "cancel":
      return CANCELLED;
  }
}

/** Nothing is chosen if nothing fits: then it is as if the turn had ended, and the agent does not act. */
function select(request: JsonObject, kinds: readonly string[]): PermissionAnswer {
  const options = listOf(request.options).map(objectOf);
  for (const kind of kinds) {
    const optionId = stringOf(options.find((option) => option.kind === kind)?.optionId);
    if (optionId !== undefined) return { outcome: { outcome: "selected", optionId } };
  }
  return CANCELLED;
}
