import type { ApprovalPolicy, SandboxPolicy } from "@flint/protocol";
import type { CodexApprovalPolicy, CodexSandboxPolicyInput } from "@flint/protocol/codex";
import { codexError } from "./errors.ts";

/**
 * Flint's approval policy for one of Codex. With `untrusted` Codex does not ask about what is known to be harmless. The
 * stock TUI names `on-request` with `/new` although its user chose nothing (0.166.0, November 2026), so that name never
 * loosens what is in force.
 */
function approvalPolicyOf(policy: CodexApprovalPolicy): ApprovalPolicy {
  return policy === "never" ? "never" : "unlessTrusted";
}

/**
 * The policy that a client's request leads to. A client that sends the name under which it was sent the policy in force
 * wants no change, also where that name alone would mean another policy.
 */
export function approvalPolicyFrom(requested: CodexApprovalPolicy, inForce: ApprovalPolicy): ApprovalPolicy {
  return requested === codexApprovalPolicy(inForce) ? inForce : approvalPolicyOf(requested);
}

/** The approval policy of Codex that is nearest to one of Flint. */
export function codexApprovalPolicy(policy: ApprovalPolicy): CodexApprovalPolicy {
  switch (policy) {
    case "always":
      return "untrusted";
    case "unlessTrusted":
    case "onRequest":
      return "on-request";
    case "never":
      return "never";
  }
}

/** Flint's sandbox policy for one of Codex. */
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

/** In Codex, read-only holds until something is approved, which is then done. */
const READ_ONLY: SandboxPolicy = { type: "readOnly", whenApproved: "workspaceWrite" };

/** The sandbox that a client requests for its thread. */
function threadSandbox<Sandbox>(sandbox: Sandbox): Sandbox | SandboxPolicy {
  const { type = sandbox }: { readonly type?: unknown } = Object(sandbox);
  return type === "read-only" || type === "readOnly" ? READ_ONLY : sandbox;
}

/** The permission profiles that are built into Codex, and the sandbox of each. */
const PROFILES: ReadonlyMap<string, SandboxPolicy> = new Map<string, SandboxPolicy>([
  [":read-only", READ_ONLY],
  [":workspace", { type: "workspaceWrite", writableRoots: [], networkAccess: false }],
  [":danger-full-access", { type: "dangerFullAccess" }],
]);

/** The permission profiles, as clients list them. */
export const PERMISSION_PROFILES = [...PROFILES.keys()].map((id) => ({
  id,
  description: null,
  allowed: true,
}));

/** Reports whether this is the sandbox of a permission profile. */
function isSandboxOfProfile(id: string, sandbox: SandboxPolicy): boolean {
  return PROFILES.get(id)?.type === sandbox.type;
}

/** The sandbox that a client requests, by a permission profile or by a sandbox in the field of that name, not by both. */
export function requestedSandbox<Sandbox>(
  permissions: string | null | undefined,
  field: string,
  sandbox: Sandbox | null | undefined,
): { readonly sandbox?: Sandbox | SandboxPolicy } {
  if (permissions == null) return sandbox == null ? {} : { sandbox: threadSandbox(sandbox) };
  if (sandbox != null) throw codexError(`\`permissions\` cannot be combined with \`${field}\``);
  return { sandbox: sandboxOfProfile(permissions) };
}

function sandboxOfProfile(id: string): SandboxPolicy {
  const sandbox = PROFILES.get(id);
  if (sandbox !== undefined) return sandbox;
  throw codexError(
    `failed to load configuration: default_permissions refers to unknown built-in profile \`${id}\``,
  );
}

/** Threads that are remembered; the oldest is forgotten first. */
const MOST_THREADS = 10_000;

/** The params of a request that choose policies. */
interface PolicyParams {
  readonly approvalPolicy?: CodexApprovalPolicy | null | undefined;
  readonly permissions?: string | null | undefined;
  readonly sandbox?: unknown;
  readonly sandboxPolicy?: unknown;
}

/** Policies that clients requested for a thread. */
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
