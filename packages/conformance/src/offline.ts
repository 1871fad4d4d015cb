import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The offline model for the server that is tried, and the variables that lead it there. */
export interface OfflineModel {
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Starts the offline model and says which variables make an agent use it: Codex and what starts it, Claude, anything
 * that goes by the usual variables of OpenAI and Anthropic, and Flint. Their state goes to the folder, away from the
 * user's account and settings.
 */
export async function offlineModel(folder: string): Promise<OfflineModel> {
  const { ModelServer } = await import("@flint/offline-model/http");
  const server = await ModelServer.start();
  const codexHome = join(folder, "codex");
  await mkdir(codexHome, { recursive: true });
  await writeFile(join(codexHome, "config.toml"), codexConfig(`${server.url}/v1`));
  const environment = {
    NO_COLOR: "1",
    CODEX_HOME: codexHome,
    // codex-acp begins in a mode that lets a second model judge; in this one it asks.
    INITIAL_AGENT_MODE: "read-only",
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: "offline",
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "offline",
    FLINT_HOME: join(folder, "flint"),
    FLINT_CONFIG: join(folder, "flint.toml"),
    FLINT_MODEL: "flint/offline",
  };
  return { environment, close: () => server.close() };
}

/** Without retries of single requests every second try is one that Codex tells of. */
function codexConfig(url: string): string {
  return [
    'model_provider = "flint"',
    "",
    "[model_providers.flint]",
    'name = "flint"',
    `base_url = ${JSON.stringify(url)}`,
    'wire_api = "responses"',
    "request_max_retries = 0",
    "",
  ].join("\n");
}
