import type { ApprovalPolicy, SandboxPolicy } from "@flint/protocol";
import type { CodexApprovalPolicy, CodexSandboxPolicyInput } from "@flint/protocol/codex";

/**
 * When the user is asked, in Flint's words. With `untrusted` Codex does not ask about what is known to be harmless; what
 * it lets its model decide with `on-request`, Flint decides in the same way.
 */
export function approvalPolicyOf(policy: CodexApprovalPolicy): ApprovalPolicy {
  return policy === "never" ? "never" : "unlessTrusted";
}

/**
 * What a client's word changes the policy in force to. A client that says the word in which it is told of that policy
 * wants nothing changed, also where the word would mean another policy by itself.
 */
export function approvalPolicyFrom(word: CodexApprovalPolicy, inForce: ApprovalPolicy): ApprovalPolicy {
  return word === codexApprovalPolicy(inForce) ? inForce : approvalPolicyOf(word);
}

/** When the user is asked, in the nearest of Codex's words. */
export function codexApprovalPolicy(policy: ApprovalPolicy): CodexApprovalPolicy {
  switch (policy) {
    case "always":
      return "untrusted";
    case "unlessTrusted":
      return "on-request";
    case "never":
      return "never";
  }
}

/** A sandbox of a client, in Flint's words. */
export function sandboxPolicyOf(policy: CodexSandboxPolicyInput): SandboxPolicy {
  switch (policy.type) {
    case "dangerFullAccess":
    case "readOnly":
      return { type: policy.type };
    case "externalSandbox": {
      const { type, networkAccess } = policy;
      return networkAccess === undefined ? { type } : { type, networkAccess };
    }
    case "workspaceWrite": {
      const { type, writableRoots = [], networkAccess = false } = policy;
      return { type, writableRoots, networkAccess };
    }
  }
}
