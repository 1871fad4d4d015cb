import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart, ModelRequest } from "@flint/agent/model";
import { lazy, type TokenUsage } from "@flint/protocol";
import * as z from "zod/mini";
import type { RequestConversation } from "./conversation.ts";
import type { RequestTool, RequestTools } from "./request-tools.ts";

/** A request of a client, as the offline model gets it. */
export interface ApiRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly request: ModelRequest;
  readonly tools: RequestTools;
  /** The client only requests a title for its conversation, which needs no work and no step of a script. */
  readonly isTitle: boolean;
}

/** One server-sent event; without a name only its data is sent. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: unknown;
}

/** The response to one request as it is made: each method returns the events for a client that streams. */
export interface ApiResponse {
  /** Begins; with the usage if it is known already. */
  start(usage?: TokenUsage): readonly StreamEvent[];
  part(part: ModelPart): readonly StreamEvent[];
  finish(reason: FinishReason, usage: TokenUsage): readonly StreamEvent[];
  /** The events for a model that fails in the middle. */
  fail(message: string): readonly StreamEvent[];
  /** The whole response, once it is finished, for a client that does not stream. */
  body(): unknown;
}

/** One of the HTTP APIs that models are served with. */
export interface ModelApi<Request extends ApiRequest = ApiRequest> {
  /** Throws an HttpError that names the field if the body is not valid. */
  parse(body: unknown): Request;
  respond(request: Request): ApiResponse;
  errorBody(status: number, message: string): unknown;
}

/** A request cannot be answered. The message names what is wrong with it. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

// Clients send much that is not read here, under the same names, so a value of another type counts as missing.
const string = z.catch(z.nullish(z.string()), undefined);
const boolean = z.catch(z.nullish(z.boolean()), undefined);

/** A list; a string is content of one part with that text. */
function listOf<Item extends z.ZodMiniType>(item: Item) {
  const toList = (value: unknown) => (typeof value === "string" ? [{ text: value }] : value);
  return z.catch(z.pipe(z.transform(toList), z.array(item)), []);
}

/** A request body of any of the APIs, which have most fields in common; each API reads its own. */
const Body = lazy(() => {
  const object = z.catch(z.nullish(z.record(z.string(), z.unknown())), undefined);
  const schema = z.nullish(z.looseObject({ schema: object }));
  const format = z.nullish(z.looseObject({ type: string, schema: object, json_schema: schema }));
  const tool = { type: string, name: string, description: string, parameters: object, input_schema: object };
  const Tool = z.looseObject({
    ...tool,
    function: z.nullish(z.looseObject(tool)),
    tools: listOf(z.looseObject(tool)),
  });
  const call = { id: string, name: string, arguments: string, input: z.optional(z.unknown()) };
  const Text = z.looseObject({ text: string });
  const Part = z.looseObject({
    ...call,
    type: string,
    text: string,
    tool_use_id: string,
    content: listOf(Text),
    is_error: boolean,
  });
  const Message = z.looseObject({
    ...call,
    type: string,
    role: z.optional(z.enum(["user", "assistant", "system", "developer", "tool"])),
    content: listOf(Part),
    call_id: string,
    tool_call_id: string,
    tool_calls: listOf(z.looseObject({ id: z.string(), function: z.looseObject(call) })),
    output: listOf(Text),
    tools: listOf(Tool),
  });
  const toItems = (input: unknown) =>
    typeof input === "string" ? [{ role: "user", content: input }] : input;
  return z.looseObject({
    model: z.string(),
    stream: boolean,
    system: listOf(Text),
    instructions: string,
    messages: z.optional(z.array(Message)),
    input: z.pipe(z.transform(toItems), z.optional(z.array(Message))),
    tools: listOf(Tool),
    previous_response_id: string,
    stream_options: z.nullish(z.looseObject({ include_usage: boolean })),
    thinking: z.nullish(z.looseObject({ type: string })),
    response_format: format,
    output_format: format,
    output_config: z.nullish(z.looseObject({ format })),
    text: z.nullish(z.looseObject({ format })),
  });
});
type ParsedBody = z.infer<ReturnType<typeof Body>>;
/** A message of a request, or an item of the Responses API. */
export type BodyMessage = NonNullable<ParsedBody["messages"]>[number];
/** A tool of a request. */
export type BodyTool = ParsedBody["tools"][number];

/** Parses a body whose conversation is in this field, or throws an HttpError. */
export function parseBody(value: unknown, field: "messages" | "input") {
  const { success, data, error } = z.safeParse(Body(), value);
  if (!success) {
    const [issue] = error.issues;
    throw new HttpError(400, `${issue?.path.join(".") || "The body"}: ${issue?.message}.`, { cause: error });
  }
  const messages = data[field];
  if (messages === undefined) throw new HttpError(400, `${field} is missing.`);
  return { ...data, messages };
}

/** The text of content; parts without a text have none. */
export function contentText(
  content: readonly { readonly text?: string | null | undefined }[],
  separator = "\n",
): string {
  return content.flatMap(({ text }) => text ?? []).join(separator);
}

/** A tool that takes a JSON object. */
export function functionTool(
  tool: Pick<BodyTool, "name" | "description" | "parameters" | "input_schema">,
): RequestTool {
  const { name, description, parameters, input_schema } = tool;
  const schema = parameters ?? input_schema ?? {};
  return { name: name ?? "", kind: "function", description: description ?? "", parameters: schema };
}

/** Builds a request from what all APIs have in common. */
export function apiRequest(
  { model, stream }: { readonly model: string; readonly stream?: boolean | null | undefined },
  { tools, messages }: RequestConversation,
  outputSchema: ModelRequest["outputSchema"],
): ApiRequest {
  const system = messages.find(({ role }) => role === "system")?.text ?? "";
  const mentionsTitle = /\btitle\b/i.test(system.slice(0, 4000));
  return {
    model,
    stream: stream === true,
    tools,
    isTitle: tools.count === 0 && mentionsTitle && !/\bcoding agent\b/i.test(system.slice(0, 400)),
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

/** Usage as OpenAI counts it, with the names that an API has for input and output. */
export function openAiUsage(usage: TokenUsage, input: string, output: string): object {
  // Cached input is part of the input, and reasoning of the output.
  const cached = usage.cacheReadTokens ?? 0;
  const reasoning = usage.thinkingTokens ?? 0;
  const inputTokens = usage.inputTokens + cached + (usage.cacheWriteTokens ?? 0);
  const outputTokens = usage.outputTokens + reasoning;
  return {
    [`${input}_tokens`]: inputTokens,
    [`${input}_tokens_details`]: { cached_tokens: cached },
    [`${output}_tokens`]: outputTokens,
    [`${output}_tokens_details`]: { reasoning_tokens: reasoning },
    total_tokens: inputTokens + outputTokens,
  };
}

/** A new id in the style of the providers. */
export function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "")}`;
}
