import { FIRST_LISTED } from "@flint/drivers";
import type { Model } from "@flint/protocol";
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
import { count } from "../../screen/amounts.ts";
import { type Finding, reason } from "./finding.ts";

/** What models there are, by where they come from; which keys are set, never what they are. */
export async function models(cwd: string): Promise<readonly Finding[]> {
  // A configuration with a fault is told by its own check.
  const config = await new UserConfig(userConfigPath()).read().catch(() => new ConfigValues());
  const embedded = await embed({ cwd, ...optionsOf(config), agents: configuredAgents(config) });
  try {
    // One that cannot be asked has no models; that is told in its row.
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
    // Told by the check of the configuration.
    const model = config.get("model");
    return model === undefined ? {} : { model };
  }
}

async function chosenFinding(
  client: FlintClient,
  list: readonly Model[],
  config: ConfigValues,
): Promise<Finding> {
  const wayOut = "flint models lists what there is; flint config set model MODEL chooses one.";
  try {
    const { model } = await client.configRead();
    const found = list.find(({ id }) => id === model);
    if (found !== undefined && !isMissing(found))
      return { name: "model", state: "ok", detail: `new threads use ${model}` };
    const detail = found?.description ?? `new threads use ${model}, which nobody lists`;
    return { name: "model", state: "problem", detail, wayOut };
  } catch (thrown) {
    // The configured model is not to be had.
    const wanted = config.get("model") ?? setting("FLINT_MODEL");
    const detail = `${wanted === undefined ? "" : `${wanted}: `}${reason(thrown)}`;
    return { name: "model", state: "problem", detail, wayOut };
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
  return { name, state: "absent", detail: `${key} is not set`, wayOut: `export ${key}=…` };
}

function ollama(address: string, models: number): Finding {
  if (models > 0) return { name: "Ollama", state: "ok", detail: `${count(models, "model")} at ${address}` };
  const wayOut = "Start it with ollama serve, get a model with ollama pull qwen3, or set OLLAMA_HOST.";
  return { name: "Ollama", state: "absent", detail: `no models at ${address}`, wayOut };
}

/** One of `[providers.*]`: whether it is whole, has its key, and answers. */
function configuredProvider(config: ConfigValues, name: string, list: readonly Model[]): Finding {
  const baseUrl = config.get("providers.*.base_url", name);
  if (baseUrl === undefined) return { name, state: "problem", detail: `providers.${name} needs a base_url` };
  const key = config.get("providers.*.api_key_env", name);
  if (key === undefined || variable(key) !== undefined) return endpoint(name, baseUrl, list);
  const wayOut = `export ${key}=…, or flint config unset providers.${name}.api_key_env`;
  return { name, state: "problem", detail: `its key should be in ${key}, which is not set`, wayOut };
}

function endpoint(name: string, address: string, list: readonly Model[]): Finding {
  const models = modelsOf(name, list);
  if (models > 0) return { name, state: "ok", detail: `${count(models, "model")} at ${address}` };
  const why = ofProvider(name, list).find(isMissing)?.description ?? `${address} lists no model`;
  return { name, state: "problem", detail: why, wayOut: "Is it running, and is the key right?" };
}

function modelsOf(provider: string, list: readonly Model[]): number {
  return ofProvider(provider, list).filter((model) => !isMissing(model)).length;
}

function ofProvider(provider: string, list: readonly Model[]): readonly Model[] {
  return list.filter(({ id }) => id.startsWith(`flint/${provider}/`));
}

/** Whether a row only says that a provider, on which the user counts, has no models. */
function isMissing({ id }: Model): boolean {
  return id.endsWith(`/${FIRST_LISTED}`);
}
