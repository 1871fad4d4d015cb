import type { McpServerConfig } from "../ports/index.ts";

/** The environment variables of a program. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Names of variables that hold a secret. */
const SECRET_ENDING =
  /(^|_)(API_?KEYS?|KEYS?|KEY_ID|TOKENS?|AUTHTOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?)$/;

/** Shorter values are too likely to be ordinary words. */
const SHORTEST_SECRET = 8;

/** Variables of model providers and clouds, which commands never get, endpoints included. */
const PROVIDER_PREFIXES = [
  "ANTHROPIC_",
  "AWS_",
  "AZURE_OPENAI_",
  "CEREBRAS_",
  "COHERE_",
  "DEEPSEEK_",
  "FIREWORKS_",
  "FLINT_MODEL_",
  "GEMINI_",
  "GOOGLE_API_",
  "GOOGLE_GENERATIVE_",
  "GROQ_",
  "HUGGINGFACE_",
  "MISTRAL_",
  "MOONSHOT_",
  "OPENAI_",
  "OPENROUTER_",
  "PERPLEXITY_",
  "TOGETHER_",
  "XAI_",
];

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Variables that can make a program which only searches run others. */
const STEERING = new Set(["RIPGREP_CONFIG_PATH"]);

/**
 * The environment of a command: without keys, tokens and the settings of model providers. PATH keeps absolute folders
 * only, so that a workspace cannot supply its own `ls`.
 */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !isSecretName(name) && !STEERING.has(name)) kept[name] = value;
  }
  const folders = (kept.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  kept.PATH = folders.length === 0 ? DEFAULT_PATH : folders.join(":");
  return kept;
}

/**
 * The secrets in an environment, to be kept out of logs: the values of variables whose names say so. Endpoints, regions
 * and paths of key files are hidden from commands too, but are not secret.
 */
export function secretsIn(environment: Environment): string[] {
  const values = Object.entries(environment).flatMap(([name, value = ""]) =>
    SECRET_ENDING.test(name.toUpperCase()) ? [value.trim()] : [],
  );
  return [...new Set(values.filter((value) => value.length >= SHORTEST_SECRET && !value.startsWith("/")))];
}

/** Reports whether commands must not see a variable of this name. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_ENDING.test(upper) || PROVIDER_PREFIXES.some((prefix) => upper.startsWith(prefix));
}

/** Headers that identify a user although their names do not sound like a key. */
const IDENTIFYING = /^(?:proxy-)?authorization$|^cookie$/i;

/** Shorter header values are too likely to be ordinary words. */
const SHORTEST_HEADER = 12;

/**
 * The keys in the configuration of an MCP server. Its other values, such as folders and addresses, are ordinary text
 * that users must be able to read in approvals.
 */
export function mcpServerSecrets(server: McpServerConfig): string[] {
  if (server.type === "stdio") return secretsIn(server.env);
  const named = Object.entries(server.headers).map(([name, value]) => [
    IDENTIFYING.test(name) ? "TOKEN" : name.replaceAll("-", "_"),
    value.replace(/^(?:Bearer|Basic) /i, ""),
  ]);
  return named
    .flatMap(([name = "", value = ""]) => secretsIn({ [name]: value }))
    .filter((key) => key.length >= SHORTEST_HEADER);
}
