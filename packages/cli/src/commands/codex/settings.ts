import type { McpServerConfig } from "@flint/core/ports";
import { checkedDocument, isTable, mcpServersOf } from "@flint/server/config";
import { variable } from "@flint/server/environment";
import { UsageError } from "../../command-line/command.ts";

/** Codex's approval modes; `on-failure` and `untrusted` are from older versions. */
export const APPROVAL_MODES = ["never", "on-failure", "on-request", "untrusted"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** The Codex settings that Flint supports. */
export interface CodexSettings {
  readonly model?: string;
  readonly effort?: string;
  readonly sandbox?: string;
  readonly networkAccess?: boolean;
  readonly writableRoots?: readonly string[];
  readonly approval?: ApprovalMode;
  readonly developerInstructions?: string;
  readonly webSearch?: "disabled";
  readonly mcpServers?: readonly McpServerConfig[];
  /** The MCP servers of Flint's own configuration to leave out. */
  readonly withoutMcpServers?: readonly string[];
}

/** The supported settings, and a note about each that is ignored. */
export interface ReadSettings {
  readonly settings: CodexSettings;
  readonly notes: readonly string[];
}

/** The meaning of a setting, and the reason why it, or a part of it, is ignored. */
interface Meaning {
  readonly means?: CodexSettings;
  readonly ignored?: string;
}

const NOT_OURS: Meaning = { ignored: "Flint has no such setting" };
const ADDRESSES: Meaning = { ignored: "configure model endpoints in Flint; see `flint config keys`" };

/** Every supported setting of Codex, by its key. */
const MEANINGS: Readonly<Record<string, (value: unknown) => Meaning>> = {
  model: (value) => ofString(value, (model) => ({ model })),
  model_reasoning_effort: (value) => ofString(value, (effort) => ({ effort })),
  sandbox_mode: (value) => ofString(value, (sandbox) => ({ sandbox })),
  "sandbox_workspace_write.network_access": (value) =>
    typeof value === "boolean"
      ? { means: { networkAccess: value } }
      : { ignored: "it must be true or false" },
  "sandbox_workspace_write.writable_roots": (value) =>
    isStrings(value) ? { means: { writableRoots: value } } : { ignored: "it must be a list of folders" },
  approval_policy: (value) => approvalMeaning(value),
  developer_instructions: (value) => ofString(value, (developerInstructions) => ({ developerInstructions })),
  web_search: (value) =>
    value === "disabled" ? { means: { webSearch: value } } : { ignored: "configure web search in Flint" },
  mcp_servers: (value) => mcpMeaning(value),
  openai_base_url: () => ADDRESSES,
  model_providers: () => ADDRESSES,
  model_provider: () => ({ ignored: "the agent is part of the model id, such as claude/opus" }),
};

/** Reads Codex settings. Unsupported ones are not an error but noted. */
export function readSettings(document: Readonly<Record<string, unknown>>): ReadSettings {
  let settings: CodexSettings = {};
  const notes: string[] = [];
  for (const [key, value] of leavesOf(document)) {
    const { means = {}, ignored } = meaningOf(key, value);
    settings = { ...settings, ...means };
    if (ignored !== undefined) notes.push(`Ignoring --config ${key}: ${ignored}.`);
  }
  return { settings, notes };
}

function meaningOf(key: string, value: unknown): Meaning {
  return (Object.hasOwn(MEANINGS, key) ? MEANINGS[key]?.(value) : undefined) ?? NOT_OURS;
}

/** Each setting with its full key; a table that is a setting itself is not split. */
function leavesOf(table: Readonly<Record<string, unknown>>, prefix = ""): (readonly [string, unknown])[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const key = `${prefix}${name}`;
    const isWhole = !isTable(value) || Object.hasOwn(MEANINGS, key) || Object.keys(value).length === 0;
    return isWhole ? [[key, value] as const] : leavesOf(value, `${key}.`);
  });
}

function approvalMeaning(value: unknown): Meaning {
  const approval = APPROVAL_MODES.find((mode) => mode === value);
  return approval === undefined
    ? { ignored: `it must be one of ${APPROVAL_MODES.join(", ")}` }
    : { means: { approval } };
}

/** The supported MCP servers, with the keys that Flint's own configuration has too. */
function mcpMeaning(value: unknown): Meaning {
  if (!isTable(value)) return { ignored: "it must be a table of servers" };
  const servers: McpServerConfig[] = [];
  const faults: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    const server = isTable(given) ? withHeaders(given) : given;
    const { values, problems } = checkedDocument({ mcp_servers: { [name]: server } }, "user");
    faults.push(...problems.map(({ at }) => at.slice(1).join(".")));
    // Expected: a server without a command and without a URL.
    try {
      servers.push(...mcpServersOf(values, (text) => text));
    } catch {
      faults.push(name);
    }
  }
  const ignored = faults.length === 0 ? {} : { ignored: `Flint does not support ${faults.join(", ")}` };
  const off = Object.entries(value).filter(([, given]) => isTable(given) && given.enabled === false);
  const withoutMcpServers = [...off.map(([name]) => name), ...servers.map(({ name }) => name)];
  return { means: { mcpServers: servers, withoutMcpServers }, ...ignored };
}

/** Merges the three ways in which Codex writes headers, two of which name environment variables. */
function withHeaders(server: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { bearer_token_env_var: bearer, http_headers: plain, env_http_headers: taken, ...rest } = server;
  const token = typeof bearer === "string" ? variable(bearer) : undefined;
  const headers = {
    ...(isTable(plain) ? plain : {}),
    ...(isTable(taken) ? variablesOf(taken) : {}),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  // An unset variable is reported as unsupported: the server would reject every call.
  const missing = bearer !== undefined && token === undefined ? { bearer_token_env_var: bearer } : {};
  return { ...rest, ...missing, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
}

function variablesOf(names: Readonly<Record<string, unknown>>): Record<string, string> {
  const values = Object.entries(names).map(([header, name]) => [header, variable(String(name))] as const);
  return Object.fromEntries(
    values.flatMap(([header, value]) => (value === undefined ? [] : [[header, value]])),
  );
}

function ofString(value: unknown, means: (text: string) => CodexSettings): Meaning {
  return typeof value === "string" && value !== ""
    ? { means: means(value) }
    : { ignored: "it must be a string" };
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Merges the `--config` options of a command line; later ones win. */
export async function readOverrides(given: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const document: Record<string, unknown> = {};
  for (const override of given) {
    const at = override.indexOf("=");
    if (at <= 0) throw new UsageError(`--config must be KEY=VALUE, not ${JSON.stringify(override)}.`);
    const path = override.slice(0, at).trim().split(".");
    if (path.some((name) => name === "" || name === "__proto__")) {
      throw new UsageError(`--config ${JSON.stringify(override.slice(0, at))} is not a valid key.`);
    }
    put(document, path, await tomlValue(override.slice(at + 1)));
  }
  return document;
}

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    into[name] = value;
    return;
  }
  const inner = into[name];
  const table = isTable(inner) ? inner : {};
  into[name] = table;
  put(table, rest, value);
}

/** Codex treats a value that is not TOML as a string. */
async function tomlValue(text: string): Promise<unknown> {
  const { parse } = await import("smol-toml");
  // Expected: a string without quotes.
  try {
    return parse(`value = ${text}`).value;
  } catch {
    return text.trim();
  }
}
