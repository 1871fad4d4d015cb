import type { Action, ApprovalPolicy } from "@flint/protocol";
import { isTrustedCommand } from "./trusted-commands.ts";

/** What the policy says about an action, before any person is asked. */
export type Verdict =
  | { readonly kind: "allow" }
  | { readonly kind: "ask"; readonly reason: string }
  | { readonly kind: "deny"; readonly reason: string };

/** All that a verdict may depend on. */
export interface PolicyInput {
  readonly approvalPolicy: ApprovalPolicy;
  readonly action: Action;
  /** Whether exactly this was allowed before, for the thread or for always. */
  readonly granted: boolean;
}

/** Whether an action may happen, must be asked about, or must not happen. Pure. */
export function judge({ approvalPolicy, action, granted }: PolicyInput): Verdict {
  if (approvalPolicy === "never" || granted) return { kind: "allow" };
  if (approvalPolicy === "always") return { kind: "ask", reason: "Every action is asked about." };
  if (action.kind === "command" && isTrustedCommand(action.command)) return { kind: "allow" };
  return { kind: "ask", reason: reasonFor(action) };
}

function reasonFor(action: Action): string {
  switch (action.kind) {
    case "command":
      return "The command is not on the list of commands known to only read.";
    case "fileChange":
      return "Files would be changed.";
    case "tool":
      return "The tool is not known to only read.";
  }
}
