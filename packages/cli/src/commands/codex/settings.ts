import type { McpServerConfig } from "@flint/core/ports";
import { checkedDocument, isTable, mcpServersOf } from "@flint/server/config";
import { variable } from "@flint/server/environment";
import { UsageError } from "../../command-line/arguments.ts";

/** When Codex asks, in its own words; the second and the last are words of older versions. */
export const APPROVAL_MODES = ["never", "on-failure", "on-request", "untrusted"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** What the settings of Codex mean for Flint. */
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
  /** The MCP servers of Flint's own configuration that are not to be there. */
  readonly withoutMcpServers?: readonly string[];
}

/** Settings as Flint understands them, and a sentence on each that it leaves out. */
export interface ReadSettings {
  readonly settings: CodexSettings;
  readonly notes: readonly string[];
}

/** What a setting means, and why it, or a part of it, is left out. */
interface Meaning {
  readonly means?: CodexSettings;
  readonly leftOut?: string;
}

const NOT_OURS: Meaning = { leftOut: "Flint has no such setting" };
const ADDRESSES: Meaning = { leftOut: "where models are is set up in Flint; see `flint config keys`" };

/** Every setting of Codex that means something here, by its key. */
const MEANINGS: Readonly<Record<string, (value: unknown) => Meaning>> = {
  model: (value) => ofText(value, (model) => ({ model })),
  model_reasoning_effort: (value) => ofText(value, (effort) => ({ effort })),
  sandbox_mode: (value) => ofText(value, (sandbox) => ({ sandbox })),
  "sandbox_workspace_write.network_access": (value) =>
    typeof value === "boolean" ? { means: { networkAccess: value } } : { leftOut: "it takes true or false" },
  "sandbox_workspace_write.writable_roots": (value) =>
    isTexts(value) ? { means: { writableRoots: value } } : { leftOut: "it takes a list of folders" },
  approval_policy: (value) => approvalMeaning(value),
  developer_instructions: (value) => ofText(value, (developerInstructions) => ({ developerInstructions })),
  web_search: (value) =>
    value === "disabled"
      ? { means: { webSearch: value } }
      : { leftOut: "whether an agent searches the web is set up in Flint" },
  mcp_servers: (value) => mcpMeaning(value),
  openai_base_url: () => ADDRESSES,
  model_providers: () => ADDRESSES,
  model_provider: () => ({ leftOut: "the agent is part of the model's name, as in claude/opus" }),
};

/** Reads a document of Codex settings. Nothing in it is an error: what has no meaning here is noted. */
export function readSettings(document: Readonly<Record<string, unknown>>): ReadSettings {
  let settings: CodexSettings = {};
  const notes: string[] = [];
  for (const [key, value] of leavesOf(document)) {
    const { means = {}, leftOut } = meaningOf(key, value);
    settings = { ...settings, ...means };
    if (leftOut !== undefined) notes.push(`--config ${key} is left out: ${leftOut}.`);
  }
  return { settings, notes };
}

function meaningOf(key: string, value: unknown): Meaning {
  return (Object.hasOwn(MEANINGS, key) ? MEANINGS[key]?.(value) : undefined) ?? NOT_OURS;
}

/** Each setting with its whole key; a table that has a meaning as a whole stays whole. */
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
    ? { leftOut: `it takes ${APPROVAL_MODES.join(", ")}` }
    : { means: { approval } };
}

/** The servers that are understood, with the keys of them that Flint's own configuration has too. */
function mcpMeaning(value: unknown): Meaning {
  if (!isTable(value)) return { leftOut: "it takes a table of servers" };
  const servers: McpServerConfig[] = [];
  const faults: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    const server = isTable(given) ? withHeaders(given) : given;
    const { values, problems } = checkedDocument({ mcp_servers: { [name]: server } }, "user");
    faults.push(...problems.map(({ at }) => at.slice(1).join(".")));
    // Expected: a server without a program and without an address.
    try {
      servers.push(...mcpServersOf(values, (text) => text));
    } catch {
      faults.push(name);
    }
  }
  const leftOut = faults.length === 0 ? {} : { leftOut: `Flint does not understand ${faults.join(", ")}` };
  const off = Object.entries(value).filter(([, given]) => isTable(given) && given.enabled === false);
  const withoutMcpServers = [...off.map(([name]) => name), ...servers.map(({ name }) => name)];
  return { means: { mcpServers: servers, withoutMcpServers }, ...leftOut };
}

/** The headers of a server, which Codex has under three names, two of them with variables to take the values from. */
function withHeaders(server: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { bearer_token_env_var: bearer, http_headers: plain, env_http_headers: taken, ...rest } = server;
  const token = typeof bearer === "string" ? variable(bearer) : undefined;
  const headers = {
    ...(isTable(plain) ? plain : {}),
    ...(isTable(taken) ? variablesOf(taken) : {}),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  // A variable that is not set is named with what is not understood: the server would refuse every call.
  const missing = bearer !== undefined && token === undefined ? { bearer_token_env_var: bearer } : {};
  return { ...rest, ...missing, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
}

function variablesOf(names: Readonly<Record<string, unknown>>): Record<string, string> {
  const values = Object.entries(names).map(([header, name]) => [header, variable(String(name))] as const);
  return Object.fromEntries(
    values.flatMap(([header, value]) => (value === undefined ? [] : [[header, value]])),
  );
}

function ofText(value: unknown, means: (text: string) => CodexSettings): Meaning {
  return typeof value === "string" && value !== "" ? { means: means(value) } : { leftOut: "it takes a text" };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The `--config` options of a command line as one document; a later one wins over an earlier one. */
export async function readOverrides(given: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const document: Record<string, unknown> = {};
  for (const override of given) {
    const at = override.indexOf("=");
    if (at <= 0) throw new UsageError(`--config takes KEY=VALUE; not ${JSON.stringify(override)}.`);
    const path = override.slice(0, at).trim().split(".");
    if (path.some((name) => name === "" || name === "__proto__")) {
      throw new UsageError(`--config ${JSON.stringify(override.slice(0, at))} is no key.`);
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

/** Codex takes what is no TOML as a text. */
async function tomlValue(text: string): Promise<unknown> {
  const { parse } = await import("smol-toml");
  // Expected: a text without quotes.
  try {
    return parse(`value = ${text}`).value;
  } catch {
    return text.trim();
  }
}
