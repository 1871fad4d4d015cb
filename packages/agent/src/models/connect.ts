import type { Clock } from "@flint/core/ports";
import { AiSdkModel, LIMITS, type Limits } from "./ai-sdk/ai-sdk-model.ts";
import { callOptions } from "./ai-sdk/call-options.ts";
import type { HttpConnection } from "./ai-sdk/http-connection.ts";
import type { LanguageModel } from "./ai-sdk/language-model.ts";
import { lenientResponses } from "./ai-sdk/lenient-responses.ts";
import type { RetryPolicy } from "./ai-sdk/problem.ts";
import type { ModelFacts } from "./model-facts.ts";
import type { Provider, ProviderModel } from "./providers.ts";

/** A local model may have to be loaded from disk before its first token. */
const LOCAL_IDLE_MS = 290_000;

/** Options of a connection beside the model. */
export interface ConnectOptions {
  readonly clock: Clock;
  readonly limits?: Partial<Limits>;
  readonly retry?: RetryPolicy;
}

/** Creates a model of a provider. Opens no connection yet. */
export function connectModel(
  { id, provider, name }: ProviderModel,
  facts: ModelFacts,
  { clock, limits, retry }: ConnectOptions,
): AiSdkModel {
  const { label, baseUrl, apiKey, authHint, connectHint } = provider;
  const idleMs = provider.isLocal ? LOCAL_IDLE_MS : LIMITS.idleMs;
  return new AiSdkModel({
    id,
    contextWindow: facts.contextWindow,
    endpoint: {
      label,
      baseUrl,
      model: name,
      authHint,
      connectHint,
      secrets: apiKey === undefined ? [] : [apiKey],
    },
    price: facts.price,
    connect: (fetch) => languageModel(provider, name, fetch),
    callOptions: (request, rejected) => callOptions(request, { id, kind: provider.kind, facts }, rejected),
    clock,
    limits: { ...LIMITS, idleMs, ...limits },
    ...(retry === undefined ? {} : { retry }),
  });
}

/**
 * The SDK's model for one connection. URL and key are always passed: without them the SDK would read the environment,
 * which only the configuration may do.
 */
async function languageModel(
  { kind, baseUrl: baseURL, apiKey }: Provider,
  name: string,
  fetch: HttpConnection["fetch"],
): Promise<LanguageModel> {
  const settings = { baseURL, apiKey: apiKey ?? "", fetch: apiKey === undefined ? withoutKey(fetch) : fetch };
  switch (kind) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings).languageModel(name);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ ...settings, fetch: lenientResponses(settings.fetch) }).responses(name);
    }
    case "ollama":
    case "compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...settings,
        name: "openaiCompatible",
        includeUsage: true,
      }).languageModel(name);
    }
  }
}

/** The SDK sends an empty key if there is none, which servers without keys may reject. */
function withoutKey(fetch: HttpConnection["fetch"]): HttpConnection["fetch"] {
  return (address, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("authorization");
    headers.delete("x-api-key");
    return fetch(address, { ...init, headers });
  };
}
