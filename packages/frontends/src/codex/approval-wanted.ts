import type { ApprovalPolicy } from "@flint/protocol";
import type { CodexApprovalPolicy } from "@flint/protocol/codex";
import { approvalPolicyFrom } from "./policies.ts";
import type { Visit } from "./visit.ts";

/** When a client wants to be asked in a thread, or in a new one if none is named; nothing if it does not say. */
export async function approvalWanted(
  word: CodexApprovalPolicy | null | undefined,
  visit: Visit,
  threadId?: string,
): Promise<{ readonly approvalPolicy?: ApprovalPolicy }> {
  if (word == null) return {};
  const { approvalPolicy } = await visit.client.core.call(
    "config/read",
    threadId === undefined ? {} : { threadId },
  );
  return { approvalPolicy: approvalPolicyFrom(word, approvalPolicy) };
}
