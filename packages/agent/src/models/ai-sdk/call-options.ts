import type { ModelRequest, ToolDescription } from "../model.ts";
import type { ModelFacts, ProviderKind } from "../model-facts.ts";
import { cleanJson, cleanText } from "./clean-text.ts";
import type { CallOptions, Prompt, ProviderOptions } from "./language-model.ts";
import { safeToolName, toPrompt } from "./prompt.ts";

type Schema = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>["inputSchema"];

/** Tokens that a Claude which thinks on a budget may think for. */
const BUDGETS: Readonly<Record<string, number>> = { low: 4096, medium: 12_288, high: 24_576 };

const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** What one step asks a model, in the SDK's words. What an endpoint refused before is left out. */
export function callOptions(
  request: ModelRequest,
  model: { readonly id: string; readonly kind: ProviderKind; readonly facts: ModelFacts },
  refused: ReadonlySet<string>,
): CallOptions {
  const { facts, kind } = model;
  const { outputSchema: schema } = request;
  const prompt = toPrompt(request.messages, model.id);
  const isHeld = schema !== undefined && facts.enforcesSchema;
  const asked = schema === undefined || isHeld ? prompt : withInstruction(prompt, schemaInWords(schema));
  const tools = request.tools.map(toolOf);
  return {
    prompt: kind === "anthropic" ? withCachePoints(asked) : asked,
    ...(tools.length === 0 ? {} : { tools }),
    ...(facts.acceptsTemperature && !refused.has("temperature") ? { temperature: request.temperature } : {}),
    ...(isHeld ? { responseFormat: { type: "json", name: "answer", schema: schemaOf(schema) } } : {}),
    providerOptions: providerOptions(kind, facts, request.reasoningEffort, refused),
  };
}

/** The tool that a model means by the name it was given. */
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
  // A JSON Schema from outside: the SDK only passes it on, and the endpoint judges it.
  return cleanJson(schema) as Schema;
}

function providerOptions(
  kind: ProviderKind,
  facts: ModelFacts,
  effort: string | undefined,
  refused: ReadonlySet<string>,
): ProviderOptions {
  const isEffort = effort !== undefined && facts.efforts.includes(effort);
  const reasoningEffort = isEffort ? { reasoningEffort: effort } : {};
  switch (kind) {
    case "openai": {
      const isSummed = facts.thinking === "effort" && !refused.has("reasoning.summary");
      const summary = isSummed ? { reasoningSummary: "auto" } : {};
      return { openai: { store: false, strictJsonSchema: false, ...summary, ...reasoningEffort } };
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

function schemaInWords(schema: Readonly<Record<string, unknown>>): string {
  return [
    "When you have finished, answer with one JSON value that fits this JSON Schema.",
    "Write nothing before or after it, and no code fence.",
    JSON.stringify(cleanJson(schema)),
  ].join("\n");
}

function withInstruction(prompt: Prompt, text: string): Prompt {
  const [first, ...rest] = prompt;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...prompt];
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest];
}

/** Claude remembers what it has read up to these points: the instructions with the tools, and the conversation so far. */
function withCachePoints(prompt: Prompt): Prompt {
  const last = prompt.length - 1;
  return prompt.map((message, place) =>
    message.role === "system" || place === last ? { ...message, providerOptions: CACHED } : message,
  );
}
