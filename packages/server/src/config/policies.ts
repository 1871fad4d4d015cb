import {
  type ApprovalPolicy,
  type Budget,
  type SandboxPolicy,
  SandboxShorthand,
  sandboxPolicyOf,
} from "@flint/protocol";
import type { ConfigValues } from "./config-values.ts";
import { ConfigError } from "./parse.ts";

/** What a configuration says about new threads. */
export interface ConfiguredPolicies {
  readonly model?: string;
  readonly approvalPolicy?: ApprovalPolicy;
  readonly sandboxPolicy?: SandboxPolicy;
  readonly budget?: Budget;
}

/** What holds where nobody says anything. */
export const USUAL_POLICIES = {
  approvalPolicy: "unlessTrusted",
  sandboxPolicy: { type: "workspaceWrite" },
} as const satisfies ConfiguredPolicies;

/** The model, the policies and the limits that a configuration names. Throws a ConfigError for values that do not go together. */
export function policiesOf(config: ConfigValues): ConfiguredPolicies {
  const model = config.get("model");
  const approvalPolicy = config.get("approval_policy");
  const sandboxPolicy = sandboxOf(config);
  const budget = budgetOf(config);
  return {
    ...(model === undefined ? {} : { model }),
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy }),
    ...(budget === undefined ? {} : { budget }),
  };
}

function sandboxOf(config: ConfigValues): SandboxPolicy | undefined {
  const name = config.get("sandbox");
  const networkAccess = config.get("network_access");
  const writableRoots = config.get("writable_roots");
  const refined = networkAccess !== undefined || writableRoots !== undefined;
  if (name === undefined && !refined) return undefined;
  const policy = sandboxPolicyOf(SandboxShorthand.parse(name ?? "workspace-write"));
  if (!refined) return policy;
  if (policy.type !== "workspaceWrite") {
    throw new ConfigError("network_access and writable_roots only go with the sandbox workspace-write.");
  }
  const relative = writableRoots?.find((root) => !root.startsWith("/"));
  if (relative !== undefined)
    throw new ConfigError(`writable_roots takes absolute folders; not ${relative}.`);
  return {
    ...policy,
    ...(networkAccess === undefined ? {} : { networkAccess }),
    ...(writableRoots === undefined ? {} : { writableRoots }),
  };
}

function budgetOf(config: ConfigValues): Budget | undefined {
  const turn = present({
    tokens: config.get("budget.turn.tokens"),
    costUsd: config.get("budget.turn.cost_usd"),
    seconds: config.get("budget.turn.seconds"),
    steps: config.get("budget.turn.steps"),
  });
  const thread = present({
    tokens: config.get("budget.thread.tokens"),
    costUsd: config.get("budget.thread.cost_usd"),
    seconds: config.get("budget.thread.seconds"),
    turns: config.get("budget.thread.turns"),
  });
  return turn === undefined && thread === undefined
    ? undefined
    : { ...(turn === undefined ? {} : { turn }), ...(thread === undefined ? {} : { thread }) };
}

/** The amounts that are set; undefined if none is. */
function present<Amounts extends Record<string, number | undefined>>(amounts: Amounts) {
  const set = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
  // Only what was undefined is gone.
  return set.length === 0 ? undefined : (Object.fromEntries(set) as { [Name in keyof Amounts]?: number });
}
