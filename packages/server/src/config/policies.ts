import { type Budget, networkRuleProblem, type SandboxPolicy } from "@flint/protocol";
import { approvalPolicyNamed, enforcementNamed, sandboxPolicyNamed } from "./keys/policy-names.ts";
import { ConfigError, type ConfigValues } from "./parse.ts";
import { type ModeSettings, permissionMode } from "./permission-modes.ts";

/** The settings of new threads in a configuration. */
export interface ConfiguredPolicies extends ModeSettings {
  readonly model?: string;
  readonly budget?: Budget;
}

/** The policies of a thread without any configuration. */
export const DEFAULT_POLICIES = {
  approvalPolicy: "unlessTrusted",
  sandboxPolicy: { type: "workspaceWrite" },
} as const satisfies ConfiguredPolicies;

/** The model, policies and budget of a configuration. Throws a ConfigError for values that contradict each other. */
export function policiesOf(config: ConfigValues): ConfiguredPolicies {
  const model = modelOfAgent(config.get("agent"), config.get("model"));
  const mode = config.get("permissions");
  const hosts = config.get("network");
  const git = config.get("git");
  const approval = config.get("approval_policy");
  const sandboxPolicy = sandboxOf(config);
  const budget = budgetOf(config);
  return {
    ...(mode === undefined ? {} : permissionMode(mode)),
    ...(model === undefined ? {} : { model }),
    ...(hosts === undefined ? {} : { network: { hosts: checkedHosts(hosts) } }),
    ...(git === undefined ? {} : { git }),
    ...(approval === undefined ? {} : { approvalPolicy: approvalPolicyNamed(approval) }),
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/**
 * The permissions of new threads with each agent that has its own. A permission mode sets all of them, so that `ask` is
 * in force even if the mode of other agents allows more. Throws a ConfigError for a malformed host.
 */
export function agentPermissionsOf(config: ConfigValues): ReadonlyMap<string, ModeSettings> {
  const all = config.names("agents").map((id) => [id, permissionsOfAgent(config, id)] as const);
  return new Map(all.filter(([, permissions]) => Object.keys(permissions).length > 0));
}

const ASK: ModeSettings = {
  ...DEFAULT_POLICIES,
  ...{ network: { hosts: [] }, git: "ask", acceptEdits: false },
};

function permissionsOfAgent(config: ConfigValues, id: string): ModeSettings {
  const mode = config.get("agents.*.permissions", id);
  const approval = config.get("agents.*.approval_policy", id);
  const sandbox = config.get("agents.*.sandbox", id);
  const hosts = config.get("agents.*.network", id);
  const git = config.get("agents.*.git", id);
  return {
    ...(mode === undefined ? {} : { ...ASK, ...permissionMode(mode) }),
    ...(approval === undefined ? {} : { approvalPolicy: approvalPolicyNamed(approval) }),
    ...(sandbox === undefined ? {} : { sandboxPolicy: sandboxPolicyNamed(sandbox) }),
    ...(hosts === undefined ? {} : { network: { hosts: checkedHosts(hosts, `agents.${id}.network`) } }),
    ...(git === undefined ? {} : { git }),
  };
}

/** The model id for an agent and a model, which may be named with its agent. An agent alone means its default model. */
export function modelOfAgent(agent: string | undefined, model: string | undefined): string | undefined {
  if (agent === undefined) return model;
  return model === undefined || model.startsWith(`${agent}/`) ? (model ?? agent) : `${agent}/${model}`;
}

function checkedHosts(hosts: readonly string[], key = "network"): string[] {
  for (const host of hosts) {
    const problem = networkRuleProblem(host);
    if (problem !== undefined) throw new ConfigError(`${key}: ${problem}.`);
  }
  return [...hosts];
}

function sandboxOf(config: ConfigValues): SandboxPolicy | undefined {
  const name = config.get("sandbox");
  const networkAccess = config.get("network_access");
  const writableRoots = config.get("writable_roots");
  const refined = networkAccess !== undefined || writableRoots !== undefined;
  if (name === undefined && !refined) return undefined;
  const policy = sandboxPolicyNamed(name ?? "workspace-write");
  if (!refined) return policy;
  if (policy.type !== "workspaceWrite") {
    throw new ConfigError("network_access and writable_roots require the workspace-write sandbox.");
  }
  const relative = writableRoots?.find((root) => !root.startsWith("/"));
  if (relative !== undefined)
    throw new ConfigError(`writable_roots must be absolute folders, not ${relative}.`);
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
  const named = config.get("budget.enforcement");
  const budget: Budget = {
    ...(named === undefined ? {} : { enforcement: enforcementNamed(named) }),
    ...(turn === undefined ? {} : { turn }),
    ...(thread === undefined ? {} : { thread }),
  };
  return Object.keys(budget).length === 0 ? undefined : budget;
}

/** The amounts that are set; undefined if there are none. */
function present<Amounts extends Record<string, number | undefined>>(amounts: Amounts) {
  const set = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
  // Only undefined amounts were removed.
  return set.length === 0 ? undefined : (Object.fromEntries(set) as { [Name in keyof Amounts]?: number });
}
