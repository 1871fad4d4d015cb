/** Variables that keep whatever the user of this machine has set up out of a test: no key, no model but the offline one, no configuration. */
export function plainEnvironment(home: string): Readonly<Record<string, string | undefined>> {
  return {
    FLINT_HOME: home,
    FLINT_CONFIG: `${home}/config.toml`,
    XDG_STATE_HOME: undefined,
    FLINT_MODEL: "flint/offline",
    FLINT_MODEL_URL: undefined,
    FLINT_OFFLINE_SCRIPT: undefined,
    ANTHROPIC_API_KEY: undefined,
    OPENAI_API_KEY: undefined,
    OLLAMA_HOST: undefined,
    CLAUDE_CODE_EXECUTABLE: undefined,
    CODEX_EXECUTABLE: undefined,
  };
}
