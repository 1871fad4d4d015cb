import type { ApprovalPolicy, SandboxPolicy } from "@flint/protocol";
import type { CodexApprovalPolicy } from "@flint/protocol/codex";
import { isSandboxOf } from "./permissions.ts";
import { approvalPolicyOf, codexApprovalPolicy } from "./policies.ts";

/** Threads whose words are kept; the oldest is forgotten first. */
const MOST_WORDS = 10_000;

/** What of a request says when to ask, and what an agent may do. */
interface Wish {
  readonly approvalPolicy?: CodexApprovalPolicy | null | undefined;
  readonly permissions?: string | null | undefined;
  readonly sandbox?: unknown;
  readonly sandboxPolicy?: unknown;
}

/** What was said of a thread. */
interface Said {
  readonly approval?: CodexApprovalPolicy | undefined;
  readonly profile?: string | undefined;
}

/**
 * The words in which clients said when they want to be asked, and by which name what an agent may do. Codex has more of
 * them than Flint, and who said one is to hear the same one again.
 */
export class ApprovalWords {
  readonly #said = new Map<string, Said>();

  /** Notes what was said of a thread. */
  note(threadId: string, { approvalPolicy, permissions, sandbox, sandboxPolicy }: Wish): void {
    const before = this.#said.get(threadId);
    const approval = approvalPolicy ?? before?.approval;
    const isOther = (sandbox ?? sandboxPolicy ?? null) !== null;
    const profile = permissions ?? (isOther ? undefined : before?.profile);
    if (approval !== undefined || profile !== undefined) this.#keep(threadId, { approval, profile });
    else this.#said.delete(threadId);
  }

  /** A thread that comes from another one begins with its words. */
  copy(from: string, to: string): void {
    const said = this.#said.get(from);
    if (said !== undefined) this.#keep(to, said);
  }

  /** The word for what is in force in a thread. */
  of(threadId: string, policy: ApprovalPolicy): CodexApprovalPolicy {
    const word = this.#said.get(threadId)?.approval;
    return word !== undefined && approvalPolicyOf(word) === policy ? word : codexApprovalPolicy(policy);
  }

  /** The set of permissions that is in force in a thread; null if a sandbox was chosen in another way. */
  profileOf(
    threadId: string,
    sandbox: SandboxPolicy,
  ): { readonly id: string; readonly extends: null } | null {
    const id = this.#said.get(threadId)?.profile;
    return id !== undefined && isSandboxOf(id, sandbox) ? { id, extends: null } : null;
  }

  #keep(threadId: string, said: Said): void {
    this.#said.delete(threadId);
    this.#said.set(threadId, said);
    const [oldest] = this.#said.keys();
    if (this.#said.size > MOST_WORDS && oldest !== undefined) this.#said.delete(oldest);
  }
}
