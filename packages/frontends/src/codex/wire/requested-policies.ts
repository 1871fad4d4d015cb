import type { ApprovalPolicy, SandboxPolicy } from "@flint/protocol";
import type { CodexApprovalPolicy } from "@flint/protocol/codex";
import { approvalPolicyOf, codexApprovalPolicy, isSandboxOfProfile } from "./policies.ts";

/** Threads that are remembered; the oldest is forgotten first. */
const MOST_THREADS = 10_000;

/** The params of a request that choose policies. */
interface PolicyParams {
  readonly approvalPolicy?: CodexApprovalPolicy | null | undefined;
  readonly permissions?: string | null | undefined;
  readonly sandbox?: unknown;
  readonly sandboxPolicy?: unknown;
}

/** What clients requested for a thread. */
interface Requested {
  readonly approval?: CodexApprovalPolicy | undefined;
  readonly profile?: string | undefined;
}

/**
 * The policies as clients requested them for each thread. Codex has more names for them than Flint has policies, and a
 * client is sent the name that was requested.
 */
export class RequestedPolicies {
  readonly #requested = new Map<string, Requested>();

  /** Remembers what a request chooses for a thread. */
  note(threadId: string, { approvalPolicy, permissions, sandbox, sandboxPolicy }: PolicyParams): void {
    const before = this.#requested.get(threadId);
    const approval = approvalPolicy ?? before?.approval;
    const hasSandbox = (sandbox ?? sandboxPolicy ?? null) !== null;
    const profile = permissions ?? (hasSandbox ? undefined : before?.profile);
    if (approval !== undefined || profile !== undefined) this.#set(threadId, { approval, profile });
    else this.#requested.delete(threadId);
  }

  /** A fork begins with what was requested for its source. */
  copy(from: string, to: string): void {
    const requested = this.#requested.get(from);
    if (requested !== undefined) this.#set(to, requested);
  }

  /** The name for the approval policy in force in a thread. */
  approvalPolicy(threadId: string, policy: ApprovalPolicy): CodexApprovalPolicy {
    const name = this.#requested.get(threadId)?.approval;
    return name !== undefined && approvalPolicyOf(name) === policy ? name : codexApprovalPolicy(policy);
  }

  /** The permission profile in force in a thread; null if its sandbox was chosen in another way. */
  profile(threadId: string, sandbox: SandboxPolicy): { readonly id: string; readonly extends: null } | null {
    const id = this.#requested.get(threadId)?.profile;
    return id !== undefined && isSandboxOfProfile(id, sandbox) ? { id, extends: null } : null;
  }

  #set(threadId: string, requested: Requested): void {
    this.#requested.delete(threadId);
    this.#requested.set(threadId, requested);
    const [oldest] = this.#requested.keys();
    if (this.#requested.size > MOST_THREADS && oldest !== undefined) this.#requested.delete(oldest);
  }
}
