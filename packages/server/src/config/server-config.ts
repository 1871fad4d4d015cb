import type { NativeOptions } from "@flint/drivers";
import type { ServerOptions } from "../server-options.ts";
import { VERSION } from "../version.ts";
import type { ConfigValues } from "./config-values.ts";
import { setting, variable } from "./environment.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { ConfigError } from "./parse.ts";
import { policiesOf } from "./policies.ts";

/** The server that a user's configuration asks for. Throws a ConfigError for what cannot be meant. */
export function configuredOptions(config: ConfigValues): ServerOptions {
  return {
    ...policiesOf(config),
    durability: config.get("durability"),
    allowUnconfined: config.get("allow_unconfined"),
    allowRemoteMcp: config.get("allow_remote_mcp"),
    idleMs: secondsOf(config.get("idle_timeout")),
    backgroundMs: secondsOf(config.get("background_timeout")),
    autoResume: config.get("acp.auto_resume"),
    approvalTimeoutMs: secondsOf(config.get("approval_timeout")),
    mcpServers: mcpServersOf(config, fillIn),
    native: nativeOptions(config),
  };
}

/** What Flint's own agent may use: from the environment, and from the user's configuration if there is one. */
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
    web: { fetch: config?.get("web.fetch") ?? false, searchUrl: config?.get("web.search_url") },
    offlineScript: setting("FLINT_OFFLINE_SCRIPT"),
    version: VERSION,
  };
}

function endpoint(apiKey: string | undefined, baseUrl: string | undefined) {
  return apiKey === undefined ? undefined : { apiKey, baseUrl };
}

/** Ollama's own variable may leave out the scheme and the port, and may name the address that means all. */
function ollamaAddress(host = "127.0.0.1:11434"): string {
  const url = URL.canParse(withScheme(host)) ? new URL(withScheme(host)) : undefined;
  if (url === undefined)
    throw new ConfigError(`OLLAMA_HOST is no address: ${host}. It takes HOST:PORT or a URL.`);
  if (url.port === "" && !host.includes("://")) url.port = "11434";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return url.origin;
}

function withScheme(host: string): string {
  return host.includes("://") ? host : `http://${host}`;
}

/** Providers that Flint knows itself. */
const TAKEN_NAMES = ["anthropic", "custom", "offline", "ollama", "openai"];

function providersOf(config: ConfigValues) {
  return config.names("providers").map((name) => {
    if (TAKEN_NAMES.includes(name))
      throw new ConfigError(`providers.${name}: that name is taken; choose another.`);
    const baseUrl = config.get("providers.*.base_url", name);
    if (baseUrl === undefined) throw new ConfigError(`providers.${name} needs a base_url.`);
    const keyName = config.get("providers.*.api_key_env", name);
    const apiKey = keyName === undefined ? undefined : variable(keyName);
    return { name, baseUrl, apiKey, keyVariable: keyName, models: config.get("providers.*.models", name) };
  });
}

/** `{env:NAME}` in a text of the user's own file stands for the value of a variable. */
function fillIn(text: string): string {
  return text.replaceAll(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = variable(name);
    if (value !== undefined) return value;
    throw new ConfigError(
      `The variable ${name}, which an MCP server of your configuration uses, is not set.`,
    );
  });
}

function secondsOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
