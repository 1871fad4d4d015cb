import type { ModelRequest, ToolDescription } from "../model.ts";
import type { ModelFacts, ProviderKind } from "../model-facts.ts";
import { cleanJson, cleanText } from "./clean-text.ts";
import type { CallOptions, Prompt, ProviderOptions } from "./language-model.ts";
import { safeToolName, toPrompt } from "./prompt.ts";

type Schema = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>["inputSchema"];

/** The thinking budgets of Claude models that take one, in tokens. */
const BUDGETS: Readonly<Record<string, number>> = { low: 4096, medium: 12_288, high: 24_576 };

const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Converts a request into the SDK's call options, without parameters that the endpoint rejected before. */
export function callOptions(
  request: ModelRequest,
  model: { readonly id: string; readonly kind: ProviderKind; readonly facts: ModelFacts },
  rejected: ReadonlySet<string>,
): CallOptions {
  const { facts, kind } = model;
  const { outputSchema: schema } = request;
  const prompt = toPrompt(request.messages, model.id);
  const isEnforced = schema !== undefined && facts.enforcesSchema;
  const instructed =
    schema === undefined || isEnforced ? prompt : withInstruction(prompt, schemaInstruction(schema));
  const tools = request.tools.map(toolOf);
  return {
    prompt: kind === "anthropic" ? withCachePoints(instructed) : instructed,
    ...(tools.length === 0 ? {} : { tools }),
    ...(facts.acceptsTemperature && !rejected.has("temperature") ? { temperature: request.temperature } : {}),
    ...(isEnforced ? { responseFormat: { type: "json", name: "answer", schema: schemaOf(schema) } } : {}),
    providerOptions: providerOptions(kind, facts, request, rejected),
  };
}

/** The tool that a model means by the name that it was sent. */
export function toolNamed(name: string, tools: readonly ToolDescription[]): string {
  return tools.find((tool) => safeToolName(tool.name) === name)?.name ?? name;
}

function toolOf({ name, description, parameters }: ToolDescription) {
  return {
    type: "function",
    name: safeToolName(name),
    description: cleanText(description),
    inputSchema: schemaOf(parameters),
  } as const;
}

function schemaOf(schema: Readonly<Record<string, unknown>>): Schema {
  // A JSON Schema from outside: the SDK only passes it on, and the endpoint validates it.
  return cleanJson(schema) as Schema;
}

function providerOptions(
  kind: ProviderKind,
  facts: ModelFacts,
  { reasoningEffort: effort, summary = "auto" }: ModelRequest,
  rejected: ReadonlySet<string>,
): ProviderOptions {
  const isEffort = effort !== undefined && facts.efforts.includes(effort);
  const reasoningEffort = isEffort ? { reasoningEffort: effort } : {};
  switch (kind) {
    case "openai": {
      const canSummarize = facts.thinking === "effort" && !rejected.has("reasoning.summary");
      const reasoningSummary = canSummarize && summary !== "none" ? { reasoningSummary: summary } : {};
      return { openai: { store: false, strictJsonSchema: false, ...reasoningSummary, ...reasoningEffort } };
    }
    case "anthropic":
      return { anthropic: isEffort ? claudeThinking(facts, effort) : {} };
    case "ollama":
    case "compatible":
      return { openaiCompatible: reasoningEffort };
  }
}

function claudeThinking({ thinking }: ModelFacts, effort: string): ProviderOptions[string] {
  const adaptive = { thinking: { type: "adaptive", display: "summarized" }, effort };
  const budgetTokens = BUDGETS[effort];
  switch (thinking) {
    case "alwaysAdaptive":
      return adaptive;
    case "adaptive":
      return effort === "none" ? { thinking: { type: "disabled" } } : adaptive;
    case "budget":
      return budgetTokens === undefined ? {} : { thinking: { type: "enabled", budgetTokens } };
    case "effort":
    case "none":
      return {};
  }
}

function schemaInstruction(schema: Readonly<Record<string, unknown>>): string {
  return [
    "When you have finished, answer with one JSON value that matches this JSON Schema.",
    "Write nothing before or after it, and no code fence.",
    JSON.stringify(cleanJson(schema)),
  ].join("\n");
}

function withInstruction(prompt: Prompt, text: string): Prompt {
  const [first, ...rest] = prompt;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...prompt];
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest];
}

/** Claude caches the prompt up to these points: the instructions with the tools, and the conversation so far. */
function withCachePoints(prompt: Prompt): Prompt {
  const last = prompt.length - 1;
  return prompt.map((message, index) =>
    message.role === "system" || index === last ? { ...message, providerOptions: CACHED } : message,
  );
}
