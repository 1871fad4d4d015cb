import type { ModelSettings, NativeOptions } from "@flint/drivers";
import type { ServerOptions } from "../server-options.ts";
import { VERSION } from "../version.ts";
import { setting, variable } from "./environment.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { ConfigError, type ConfigValues } from "./parse.ts";
import { agentPermissionsOf, policiesOf } from "./policies.ts";
import { taskSettings } from "./task-settings.ts";

/** The server options of a user's configuration. Throws a ConfigError for values that contradict each other. */
export function configuredOptions(config: ConfigValues): ServerOptions {
  return {
    ...policiesOf(config),
    agentPermissions: agentPermissionsOf(config),
    durability: config.get("durability"),
    allowUnconfined: config.get("allow_unconfined"),
    allowRemoteMcp: config.get("allow_remote_mcp"),
    idleMs: secondsOf(config.get("idle_timeout")),
    backgroundMs: secondsOf(config.get("background_timeout")),
    autoResume: config.get("acp.auto_resume"),
    clientTerminal: config.get("acp.client_terminal"),
    clientFs: config.get("acp.client_fs"),
    silenceMs: secondsOf(config.get("silence_timeout")),
    approvalTimeoutMs: secondsOf(config.get("approval_timeout")),
    mcpServers: mcpServersOf(config, expand),
    taskSettings: taskSettings(config),
    native: nativeOptions(config),
    ...fleetOf(config),
  };
}

/** The fleet whose tasks the server adds, if it is one of several machines. */
function fleetOf(config: ConfigValues): Pick<ServerOptions, "fleet"> {
  const redis = config.get("tasks.redis");
  if (redis === undefined) return {};
  const events = { stream: config.get("tasks.events_stream"), maxLength: config.get("tasks.events_max") };
  const trusted = config.get("tasks.trust");
  return { fleet: { redis, namespace: config.get("tasks.namespace") ?? "default", events, trusted } };
}

/** The options of Flint's own agent, from the environment and the user's configuration. */
export function nativeOptions(config?: ConfigValues): NativeOptions {
  const modelUrl = setting("FLINT_MODEL_URL");
  const custom =
    modelUrl === undefined
      ? []
      : [
          {
            name: "custom",
            baseUrl: modelUrl,
            apiKey: setting("FLINT_MODEL_KEY"),
            keyVariable: "FLINT_MODEL_KEY",
          },
        ];
  return {
    access: {
      openai: endpoint(setting("OPENAI_API_KEY"), setting("OPENAI_BASE_URL")),
      anthropic: endpoint(setting("ANTHROPIC_API_KEY"), setting("ANTHROPIC_BASE_URL")),
      ollama: {
        baseUrl: ollamaAddress(setting("OLLAMA_HOST")),
        isConfigured: setting("OLLAMA_HOST") !== undefined,
      },
      others: [...custom, ...(config === undefined ? [] : providersOf(config))],
    },
    models: config === undefined ? new Map() : modelSettings(config),
    stepLimit: config?.get("step_limit"),
    web: { fetch: config?.get("web.fetch") ?? false, searchUrl: config?.get("web.search_url") },
    offlineScript: setting("FLINT_OFFLINE_SCRIPT"),
    version: VERSION,
  };
}

function endpoint(apiKey: string | undefined, baseUrl: string | undefined) {
  return apiKey === undefined ? undefined : { apiKey, baseUrl };
}

/** OLLAMA_HOST may omit the scheme and the port, and may be the wildcard address. */
function ollamaAddress(host = "127.0.0.1:11434"): string {
  const url = URL.canParse(withScheme(host)) ? new URL(withScheme(host)) : undefined;
  // Only http and https addresses have an origin: that of others would be "null".
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`OLLAMA_HOST must be HOST:PORT or an http or https URL, not ${host}.`);
  if (url.port === "" && !host.includes("://")) url.port = "11434";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return url.origin;
}

function withScheme(host: string): string {
  return host.includes("://") ? host : `http://${host}`;
}

/** The names of Flint's own providers. */
const RESERVED_NAMES = ["anthropic", "custom", "offline", "ollama", "openai"];

function providersOf(config: ConfigValues) {
  return config.names("providers").map((name) => {
    if (RESERVED_NAMES.includes(name))
      throw new ConfigError(`providers.${name}: this name is reserved; choose another.`);
    const baseUrl = config.get("providers.*.base_url", name);
    if (baseUrl === undefined) throw new ConfigError(`providers.${name} needs a base_url.`);
    const keyName = config.get("providers.*.api_key_env", name);
    const apiKey = keyName === undefined ? undefined : variable(keyName);
    return { name, baseUrl, apiKey, keyVariable: keyName, models: config.get("providers.*.models", name) };
  });
}

/** Returns the settings of models that the user configured, by id. Throws a ConfigError for half a price. */
function modelSettings(config: ConfigValues): ReadonlyMap<string, ModelSettings> {
  return new Map(
    config.names("models").map((name) => {
      const contextWindow = config.get("models.*.context_window", name);
      const price = priceOf(config, name);
      return [name, { contextWindow, price }];
    }),
  );
}

function priceOf(config: ConfigValues, name: string): ModelSettings["price"] {
  const input = config.get("models.*.price_input", name);
  const output = config.get("models.*.price_output", name);
  const cacheRead = config.get("models.*.price_cache_read", name);
  const cacheWrite = config.get("models.*.price_cache_write", name);
  if ([input, output, cacheRead, cacheWrite].every((amount) => amount === undefined)) return undefined;
  if (input === undefined || output === undefined)
    throw new ConfigError(`models.${JSON.stringify(name)} needs both price_input and price_output.`);
  return { input, output, cacheRead: cacheRead ?? input, cacheWrite: cacheWrite ?? input };
}

/** Replaces `{env:NAME}` with the value of the variable. */
function expand(text: string): string {
  return text.replaceAll(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = variable(name);
    if (value !== undefined) return value;
    throw new ConfigError(
      `Environment variable ${name} is not set; an MCP server in your configuration uses it.`,
    );
  });
}

function secondsOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
