import type { FinishReason, ModelPart, ModelRequest } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import type { JsonReader } from "../json-reader.ts";
import { isTitleRequest } from "./agent-text.ts";
import type { RequestConversation } from "./request-conversation.ts";
import type { RequestTools } from "./request-tools.ts";

/** A request of a client, as the offline model gets it. */
export interface ApiRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly request: ModelRequest;
  readonly tools: RequestTools;
  /** The client only wants a title for its conversation. */
  readonly isTitle: boolean;
}

/** One server-sent event; without a name only its data is sent. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: unknown;
}

/** The response to one request as it is made: each method returns the events for a client that streams. */
export interface ApiResponse {
  start(): readonly StreamEvent[];
  part(part: ModelPart): readonly StreamEvent[];
  finish(reason: FinishReason, usage: TokenUsage): readonly StreamEvent[];
  /** The events for a model that fails in the middle. */
  fail(message: string): readonly StreamEvent[];
  /** The whole response, once it is finished, for a client that does not stream. */
  body(): unknown;
}

/** One of the HTTP APIs that models are served with. */
export interface ModelApi<Request extends ApiRequest = ApiRequest> {
  /** Throws a JsonError that names the field if the body is not valid. */
  parse(body: JsonReader): Request;
  respond(request: Request): ApiResponse;
  errorBody(status: number, message: string): unknown;
}

/** Builds a request from what all APIs have in common. */
export function apiRequest(
  body: JsonReader,
  { tools, messages }: RequestConversation,
  outputSchema: ModelRequest["outputSchema"],
): ApiRequest {
  const system = messages.find(({ role }) => role === "system")?.text ?? "";
  return {
    model: body.field("model").string(),
    stream: body.field("stream").value === true,
    tools,
    isTitle: tools.count === 0 && isTitleRequest(system),
    request: {
      messages,
      tools: tools.descriptions,
      purpose: "prompt",
      review: undefined,
      outputSchema,
      temperature: 0,
      reasoningEffort: undefined,
    },
  };
}

/** The text of content that is a string, or a list of parts of which some have a text; empty if it is missing. */
export function contentText(content: JsonReader, separator = "\n"): string {
  if (content.isMissing) return "";
  if (!content.isArray) return content.string();
  return content
    .array()
    .flatMap((part) => part.field("text").optionalString() ?? [])
    .join(separator);
}

/** Parses the arguments of a tool call; invalid JSON, which a script can ask for, stays a string. */
export function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An error body in the format of OpenAI. */
export function openAiError(status: number, message: string): object {
  const type = status >= 500 ? "server_error" : status === 429 ? "requests" : "invalid_request_error";
  const code = status === 429 ? "rate_limit_exceeded" : null;
  return { error: { message, type, param: null, code } };
}

/** Usage as OpenAI counts it: cached input is part of the input, and reasoning of the output. */
export function openAiUsage(usage: TokenUsage) {
  const cached = usage.cacheReadTokens ?? 0;
  const input = usage.inputTokens + cached + (usage.cacheWriteTokens ?? 0);
  const reasoning = usage.thinkingTokens ?? 0;
  const output = usage.outputTokens + reasoning;
  return { input, cached, output, reasoning, total: input + output };
}
