import { agentOfModel, type Result } from "@flint/protocol";
import type { Handlers } from "../requests/handler.ts";
import { codexApprovalPolicy } from "../wire/policies.ts";
import type { CodexHost, HostEdit, HostPreferences } from "./host.ts";

type ConfigRequests =
  | "configRequirements/read"
  | "config/read"
  | "config/value/write"
  | "config/batchWrite"
  | "config/mcpServer/reload";

/** The keys that a configuration of Codex always has, set or not. */
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

/** The settings of this server as a configuration of Codex, with what clients wrote into it. */
export const config: Handlers<ConfigRequests> = {
  "configRequirements/read"(_params, { reply }) {
    reply({ supportsIndependentSpeedModes: false, requirements: null });
  },
  async "config/read"({ includeLayers }, { core, reply }, { host }) {
    const [inForce, preferences] = await Promise.all([core.call("config/read", {}), host.preferences()]);
    const layers = includeLayers === true ? { layers: [layerOf(preferences)] } : {};
    reply({ config: configOf(inForce, preferences), origins: {}, ...layers });
  },
  async "config/value/write"({ keyPath, value, expectedVersion }, { reply }, { host }) {
    reply(await write(host, [{ keyPath, value }], expectedVersion));
  },
  async "config/batchWrite"({ edits, expectedVersion }, { reply }, { host }) {
    const plain = edits.map(({ keyPath, value }) => ({ keyPath, value }));
    reply(await write(host, plain, expectedVersion));
  },
  "config/mcpServer/reload"(_params, { reply }) {
    // New threads read it anyway.
    reply({});
  },
};

async function write(
  host: CodexHost,
  edits: readonly HostEdit[],
  expectedVersion: string | null | undefined,
) {
  const { version, filePath } = await host.remember(edits, expectedVersion ?? undefined);
  return { status: "ok", version, filePath, overriddenMetadata: null } as const;
}

/** Returns the values that clients wrote, under their paths; the settings that Flint has come from Flint. */
function configOf(inForce: Result<"config/read">, { values }: HostPreferences): Record<string, unknown> {
  const config: Record<string, unknown> = { ...UNSET };
  for (const [path, value] of Object.entries(values)) put(config, path.split("."), value);
  return {
    ...config,
    model: inForce.model,
    model_provider: inForce.modelProvider ?? agentOfModel(inForce.model),
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

/** Names that would reach the prototypes of this program. */
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined || FORBIDDEN.has(name)) return;
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
