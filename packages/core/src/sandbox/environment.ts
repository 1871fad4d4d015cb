/** The environment of a program, as the caller gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Names of variables that hold a secret, whoever made them. */
const SECRET_ENDING =
  /(^|_)(API_?KEYS?|KEY_ID|ACCESS_KEY|PRIVATE_KEY|TOKENS?|SECRETS?|SECRET_KEY|PASSWORD|PASSWD|CREDENTIALS?)$/;

/** Model providers and clouds: every variable of theirs is theirs alone, endpoints included. */
const PROVIDER_PREFIXES = [
  "ANTHROPIC_",
  "AWS_",
  "AZURE_OPENAI_",
  "CEREBRAS_",
  "COHERE_",
  "DEEPSEEK_",
  "FIREWORKS_",
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

/** What a command gets to see of an environment: everything but keys, tokens and the settings of model providers. */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !isSecretName(name)) kept[name] = value;
  }
  return kept;
}

/** Whether a variable of this name is kept from commands. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_ENDING.test(upper) || PROVIDER_PREFIXES.some((prefix) => upper.startsWith(prefix));
}
