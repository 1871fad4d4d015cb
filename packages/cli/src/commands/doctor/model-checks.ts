import { FIRST_LISTED } from "@flint/drivers";
import { errorMessage, type Model } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import {
  ConfigValues,
  configuredAgents,
  configuredOptions,
  nativeOptions,
  UserConfig,
} from "@flint/server/config";
import { embed } from "@flint/server/embed";
import { setting, userConfigPath, variable } from "@flint/server/environment";
import type { ServerOptions } from "@flint/server/serve";
import { count } from "@flint/view";
import type { Finding } from "./finding.ts";

/** The models by provider, and which keys are set, without their values. */
export async function models(cwd: string): Promise<readonly Finding[]> {
  // An invalid configuration is reported by its own check.
  const config = await new UserConfig(userConfigPath()).read().catch(() => new ConfigValues());
  const embedded = await embed({ cwd, ...optionsOf(config), agents: configuredAgents(config) });
  try {
    // A provider that does not answer has no models, which its row reports.
    const list = await embedded.client.models().catch(() => []);
    return [await chosenFinding(embedded.client, list, config), ...providerFindings(config, list)];
  } finally {
    await embedded.close();
  }
}

function optionsOf(config: ConfigValues): ServerOptions {
  try {
    return configuredOptions(config);
  } catch {
    // Reported by the check of the configuration.
    const model = config.get("model");
    return model === undefined ? {} : { model };
  }
}

async function chosenFinding(
  client: FlintClient,
  list: readonly Model[],
  config: ConfigValues,
): Promise<Finding> {
  const fix = "Choose one from flint models with flint config set model MODEL.";
  try {
    const { model } = await client.configRead();
    const found = list.find(({ id }) => id === model);
    if (found !== undefined && !isMissing(found))
      return { name: "model", state: "ok", detail: `default: ${model}` };
    const detail = found?.description ?? `the default model ${model} is not listed by any agent`;
    return { name: "model", state: "problem", detail, fix };
  } catch (thrown) {
    // The configured model is not available.
    const requested = config.get("model") ?? setting("FLINT_MODEL");
    const detail = `${requested === undefined ? "" : `${requested}: `}${errorMessage(thrown)}`;
    return { name: "model", state: "problem", detail, fix };
  }
}

function providerFindings(config: ConfigValues, list: readonly Model[]): readonly Finding[] {
  const { access } = nativeOptions();
  const custom = access.others.map(({ name, baseUrl }) => endpoint(name, baseUrl, list));
  return [
    keyFinding("Anthropic", "ANTHROPIC_API_KEY", access.anthropic !== undefined),
    keyFinding("OpenAI", "OPENAI_API_KEY", access.openai !== undefined),
    ollama(access.ollama.baseUrl, modelsOf("ollama", list)),
    ...custom,
    ...config.names("providers").map((name) => configuredProvider(config, name, list)),
  ];
}

function keyFinding(name: string, key: string, isSet: boolean): Finding {
  if (isSet) return { name, state: "ok", detail: `${key} is set` };
  return { name, state: "absent", detail: `${key} is not set`, fix: `export ${key}=…` };
}

function ollama(address: string, models: number): Finding {
  if (models > 0) return { name: "Ollama", state: "ok", detail: `${count(models, "model")} at ${address}` };
  const fix = "Run ollama serve and ollama pull qwen3, or set OLLAMA_HOST.";
  return { name: "Ollama", state: "absent", detail: `no models at ${address}`, fix };
}

/** A provider of the configuration: whether it is complete, has its key, and answers. */
function configuredProvider(config: ConfigValues, name: string, list: readonly Model[]): Finding {
  const baseUrl = config.get("providers.*.base_url", name);
  if (baseUrl === undefined) return { name, state: "problem", detail: `providers.${name} needs a base_url` };
  const key = config.get("providers.*.api_key_env", name);
  if (key === undefined || variable(key) !== undefined) return endpoint(name, baseUrl, list);
  const fix = `export ${key}=…, or flint config unset providers.${name}.api_key_env`;
  return { name, state: "problem", detail: `${key} is not set`, fix };
}

function endpoint(name: string, address: string, list: readonly Model[]): Finding {
  const models = modelsOf(name, list);
  if (models > 0) return { name, state: "ok", detail: `${count(models, "model")} at ${address}` };
  const why = ofProvider(name, list).find(isMissing)?.description ?? `${address} lists no models`;
  return {
    name,
    state: "problem",
    detail: why,
    fix: "Check that it is running and that the key is correct.",
  };
}

function modelsOf(provider: string, list: readonly Model[]): number {
  return ofProvider(provider, list).filter((model) => !isMissing(model)).length;
}

function ofProvider(provider: string, list: readonly Model[]): readonly Model[] {
  return list.filter(({ id }) => id.startsWith(`flint/${provider}/`));
}

/** Reports whether a row only says that a configured provider has no models. */
function isMissing({ id }: Model): boolean {
  return id.endsWith(`/${FIRST_LISTED}`);
}
