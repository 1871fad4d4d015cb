import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import type { JsonReader } from "../json-reader.ts";
import { workingDirectory } from "./agent-text.ts";
import {
  type ApiRequest,
  type ApiResponse,
  apiRequest,
  contentText,
  type ModelApi,
  openAiError,
  openAiUsage,
  parseArguments,
  type StreamEvent,
} from "./api.ts";
import { RequestConversation } from "./request-conversation.ts";
import { type RequestTool, RequestTools } from "./request-tools.ts";

/** A request of the Chat Completions API, with what only that API has. */
interface ChatRequest extends ApiRequest {
  readonly streamsUsage: boolean;
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  tools: "tool_calls",
  length: "length",
  filtered: "content_filter",
};

/** OpenAI's Chat Completions API, which most other servers have too. */
export const chatApi: ModelApi<ChatRequest> = {
  parse(body) {
    const messages = body.field("messages").array();
    const texts = messages.map((message) => contentText(message.field("content")));
    const tools = body.field("tools").optionalArray().flatMap(readTool);
    const conversation = new RequestConversation(new RequestTools(tools, workingDirectory(texts)));
    for (const message of messages) readMessage(message, conversation);
    const options = body.field("stream_options");
    return {
      ...apiRequest(body, conversation, schemaIn(body.field("response_format"))),
      streamsUsage: options.isObject && options.field("include_usage").value === true,
    };
  },
  respond: (request) => new ChatResponse(request),
  errorBody: openAiError,
};

class ChatResponse implements ApiResponse {
  readonly #request: ChatRequest;
  readonly #id = `chatcmpl-${randomUUID()}`;
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #calls: object[] = [];
  #text = "";
  #reasoning = "";
  #end: { readonly reason: string; readonly usage: object } | undefined;

  constructor(request: ChatRequest) {
    this.#request = request;
  }

  start(): StreamEvent[] {
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  part(part: ModelPart): StreamEvent[] {
    switch (part.type) {
      case "text-delta":
        this.#text += part.text;
        return [this.#chunk({ content: part.text })];
      case "reasoning-delta":
        this.#reasoning += part.text;
        return [this.#chunk({ reasoning_content: part.text })];
      case "tool-call": {
        const { id, name, text } = this.#request.tools.toRequest(part);
        const call = { id, type: "function", function: { name, arguments: text } };
        this.#calls.push(call);
        return [this.#chunk({ tool_calls: [{ index: this.#calls.length - 1, ...call }] })];
      }
      default:
        return [];
    }
  }

  finish(reason: FinishReason, usage: TokenUsage): StreamEvent[] {
    this.#end = { reason: FINISH_REASONS[reason], usage: usageOf(usage) };
    const last = { ...this.#base("chat.completion.chunk"), choices: [], usage: this.#end.usage };
    return [
      this.#chunk({}, this.#end.reason),
      ...(this.#request.streamsUsage ? [{ data: last }] : []),
      { data: "[DONE]" },
    ];
  }

  fail(message: string): StreamEvent[] {
    return [{ data: openAiError(500, message) }];
  }

  body(): unknown {
    const message = {
      role: "assistant",
      content: this.#text === "" && this.#calls.length > 0 ? null : this.#text,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
      refusal: null,
    };
    const choices = [{ index: 0, message, finish_reason: this.#end?.reason ?? null, logprobs: null }];
    return { ...this.#base("chat.completion"), choices, usage: this.#end?.usage };
  }

  #chunk(delta: object, reason: string | null = null): StreamEvent {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    return { data: { ...this.#base("chat.completion.chunk"), choices } };
  }

  #base(object: string): object {
    return { id: this.#id, object, created: this.#created, model: this.#request.model };
  }
}

function usageOf(usage: TokenUsage): object {
  const { input, cached, output, reasoning, total } = openAiUsage(usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function readTool(tool: JsonReader): RequestTool[] {
  // The other kind takes a string of a grammar that only the client knows.
  if (tool.field("type").value !== "function") return [];
  const described = tool.field("function");
  const parameters = described.field("parameters");
  return [
    {
      name: described.field("name").string(),
      kind: "function",
      description: described.field("description").optionalString() ?? "",
      parameters: parameters.isMissing ? {} : parameters.object(),
    },
  ];
}

function readMessage(message: JsonReader, conversation: RequestConversation): void {
  const text = contentText(message.field("content"));
  const role = message.field("role").oneOf(["system", "developer", "user", "assistant", "tool"]);
  if (role === "user") conversation.addUser(text);
  else if (role === "tool") conversation.addResult(message.field("tool_call_id").string(), text);
  else if (role === "assistant") {
    conversation.addAssistant(text);
    for (const call of message.field("tool_calls").optionalArray()) readCall(call, conversation);
  } else conversation.addSystem(text);
}

function readCall(call: JsonReader, conversation: RequestConversation): void {
  const called = call.field("function");
  const input = parseArguments(called.field("arguments").string());
  conversation.addCall(call.field("id").string(), called.field("name").string(), input);
}

function schemaIn(format: JsonReader): Readonly<Record<string, unknown>> | undefined {
  const type = format.isObject ? format.field("type").value : undefined;
  if (type === "json_object") return { type: "object", properties: { answer: { type: "string" } } };
  return type === "json_schema" ? format.field("json_schema").field("schema").object() : undefined;
}
