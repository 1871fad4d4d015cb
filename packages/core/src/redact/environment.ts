/** The environment of a program, as the caller gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Names of variables that hold a secret, whoever made them. */
const SECRET_ENDING =
  /(^|_)(API_?KEYS?|KEYS?|KEY_ID|TOKENS?|AUTHTOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?)$/;

/** What is shorter is too likely to be an ordinary word. */
const SHORTEST_SECRET = 8;

/** Model providers and clouds: every variable of theirs is theirs alone, endpoints included. */
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

/** Files that are named here can make a program that only searches run others. */
const STEERING = new Set(["RIPGREP_CONFIG_PATH"]);

/**
 * What a command gets to see of an environment: everything but keys, tokens and the settings of model providers.
 * Programs are looked for in absolute folders only, or a workspace could bring its own `ls`.
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
 * The secrets in an environment, to be kept out of logs: what is in variables whose names say so. Endpoints, regions
 * and paths to key files are kept from commands too, but they are no secrets.
 */
export function secretsIn(environment: Environment): string[] {
  const values = Object.entries(environment).flatMap(([name, value = ""]) =>
    SECRET_ENDING.test(name.toUpperCase()) ? [value.trim()] : [],
  );
  return [...new Set(values.filter((value) => value.length >= SHORTEST_SECRET && !value.startsWith("/")))];
}

/** Whether a variable of this name is kept from commands. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_ENDING.test(upper) || PROVIDER_PREFIXES.some((prefix) => upper.startsWith(prefix));
}
