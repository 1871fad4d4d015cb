import type { Result } from "@flint/protocol";
import { codexApprovalPolicy } from "../policies.ts";
import type { Handlers, Visit } from "../visit.ts";
import type { HostEdit, HostPreferences } from "./host.ts";

type Settings =
  | "configRequirements/read"
  | "config/read"
  | "config/value/write"
  | "config/batchWrite"
  | "config/mcpServer/reload";

/** What a configuration of Codex always names, known or not. */
const UNSET = {
  review_model: null,
  model_context_window: null,
  model_auto_compact_token_limit: null,
  model_auto_compact_token_limit_scope: null,
  approvals_reviewer: null,
  sandbox_workspace_write: null,
  forced_chatgpt_workspace_id: null,
  forced_login_method: null,
  web_search: null,
  tools: null,
  instructions: null,
  developer_instructions: null,
  compact_prompt: null,
  model_reasoning_effort: null,
  model_reasoning_summary: null,
  model_verbosity: null,
  service_tier: null,
  analytics: null,
  apps: null,
  browser_use: null,
  computer_use: null,
  desktop: null,
};

/** The settings of this server as Codex would have them, and what its clients want remembered. */
export const settings: Handlers<Settings> = {
  "configRequirements/read"(_params, _visit, reply) {
    reply({ supportsIndependentSpeedModes: false, requirements: null });
  },
  async "config/read"({ includeLayers }, visit, reply) {
    const [inForce, preferences] = await Promise.all([
      visit.client.core.call("config/read", {}),
      visit.host.preferences(),
    ]);
    const layers = includeLayers === true ? { layers: [layerOf(preferences)] } : {};
    reply({ config: configOf(inForce, preferences), origins: {}, ...layers });
  },
  async "config/value/write"({ keyPath, value, expectedVersion }, visit, reply) {
    reply(await written(visit, [{ keyPath, value }], expectedVersion));
  },
  async "config/batchWrite"({ edits, expectedVersion }, visit, reply) {
    const plain = edits.map(({ keyPath, value }) => ({ keyPath, value }));
    reply(await written(visit, plain, expectedVersion));
  },
  "config/mcpServer/reload"(_params, _visit, reply) {
    // A new thread reads them anyway.
    reply({});
  },
};

async function written(
  { host }: Visit,
  edits: readonly HostEdit[],
  expectedVersion: string | null | undefined,
) {
  const { version, filePath } = await host.remember(edits, expectedVersion ?? undefined);
  return { status: "ok", version, filePath, overriddenMetadata: null } as const;
}

/** What a client wrote is read again by its path; what Flint works with comes from Flint. */
function configOf(inForce: Result<"config/read">, { values }: HostPreferences): Record<string, unknown> {
  const config: Record<string, unknown> = { ...UNSET };
  for (const [path, value] of Object.entries(values)) put(config, path.split("."), value);
  return {
    ...config,
    model: inForce.model,
    model_provider: inForce.model.split("/")[0] ?? null,
    approval_policy: codexApprovalPolicy(inForce.approvalPolicy),
    sandbox_mode: SANDBOX_MODES[inForce.sandboxPolicy.type],
  };
}

const SANDBOX_MODES = {
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
  dangerFullAccess: "danger-full-access",
  externalSandbox: "danger-full-access",
} as const;

/** Names that would reach into the objects of the program itself. */
const NEVER = new Set(["__proto__", "constructor", "prototype"]);

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined || NEVER.has(name)) return;
  if (rest.length === 0) {
    into[name] = value;
    return;
  }
  const known = into[name];
  const inner: Record<string, unknown> = typeof known === "object" && known !== null ? { ...known } : {};
  put(inner, rest, value);
  into[name] = inner;
}

function layerOf({ values, version, filePath }: HostPreferences): object {
  const config: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) put(config, path.split("."), value);
  return { name: { type: "user", file: filePath, profile: null }, version, config };
}
