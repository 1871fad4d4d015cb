import { tokensOf } from "@flint/agent/conversation";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import { isRecord, type TokenUsage } from "@flint/protocol";
import {
  type ApiRequest,
  type ApiResponse,
  apiRequest,
  type BodyMessage,
  contentText,
  functionTool,
  type ModelApi,
  newId,
  parseArguments,
  parseBody,
  type StreamEvent,
} from "./api.ts";
import { RequestConversation, workingDirectory } from "./conversation.ts";
import { RequestTools } from "./request-tools.ts";

/** A request of the Messages API, with what only that API has. */
interface MessagesRequest extends ApiRequest {
  readonly showsThinking: boolean;
  /** The client takes its answer as the input of a tool. */
  readonly answersByTool: boolean;
}

/** The tool by which Claude Code takes an answer that has to fit a schema. */
const ANSWER_TOOL = "StructuredOutput";

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  tools: "tool_use",
  length: "max_tokens",
  filtered: "refusal",
};

/** Anthropic's Messages API. */
export const messagesApi: ModelApi<MessagesRequest> = {
  parse(value) {
    const body = parseBody(value, "messages");
    const system = contentText(body.system);
    const texts = body.messages.map(({ content }) => contentText(content));
    // Tools that run at the provider have no schema and cannot be called here.
    const offered = body.tools.filter(({ input_schema }) => input_schema).map(functionTool);
    const answerTool = offered.find(({ name }) => name === ANSWER_TOOL);
    const tools = new RequestTools(offered, workingDirectory([system, ...texts]));
    const conversation = new RequestConversation(tools);
    conversation.addSystem(system);
    for (const message of body.messages) addMessage(message, conversation);
    const { schema } = body.output_config?.format ?? body.output_format ?? {};
    return {
      ...apiRequest(body, conversation, schema ?? answerTool?.parameters),
      showsThinking: (body.thinking?.type ?? "disabled") !== "disabled",
      answersByTool: answerTool !== undefined,
    };
  },
  respond: (request) => new MessagesResponse(request),
  errorBody(status, message) {
    const type = ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
    return { type: "error", error: { type, message } };
  },
};

type Block = Record<string, unknown>;

class MessagesResponse implements ApiResponse {
  readonly #request: MessagesRequest;
  readonly #id = newId("msg");
  readonly #blocks: Block[] = [];
  #open: "text" | "thinking" | undefined;
  /** An answer that is to be the input of a tool, until it is whole. */
  #withheld = "";
  #end: { readonly stop_reason: string; readonly usage: object } | undefined;

  /** The usage at the start: all of the input, and no output yet. */
  #begun: TokenUsage;

  constructor(request: MessagesRequest) {
    this.#request = request;
    this.#begun = { inputTokens: tokensOf(request.request.messages), outputTokens: 0 };
  }

  start(usage?: TokenUsage): StreamEvent[] {
    if (usage !== undefined) this.#begun = { ...usage, outputTokens: 0, thinkingTokens: 0 };
    return [event("message_start", { message: this.body() })];
  }

  part(part: ModelPart): StreamEvent[] {
    switch (part.type) {
      case "text-delta":
        if (!this.#request.answersByTool) return this.#stream("text", part.text);
        this.#withheld += part.text;
        return [];
      case "reasoning-delta":
        return this.#request.showsThinking ? this.#stream("thinking", part.text) : [];
      case "tool-call":
        return [...this.#flushWithheld(), ...this.#close(), ...this.#toolUse(part)];
      default:
        return [];
    }
  }

  finish(reason: FinishReason, usage: TokenUsage): StreamEvent[] {
    const answer = reason === "stop" ? parseArguments(this.#withheld) : undefined;
    const byTool = isRecord(answer);
    const last = byTool
      ? [
          ...this.#close(),
          ...this.#toolUse({
            type: "tool-call",
            callId: `answer_${this.#id}`,
            tool: ANSWER_TOOL,
            input: answer,
          }),
        ]
      : [...this.#flushWithheld(), ...this.#close()];
    this.#end = { stop_reason: STOP_REASONS[byTool ? "tools" : reason], usage: usageOf(usage) };
    const delta = { stop_reason: this.#end.stop_reason, stop_sequence: null };
    return [...last, event("message_delta", { delta, usage: this.#end.usage }), event("message_stop", {})];
  }

  fail(message: string): StreamEvent[] {
    return [event("error", { error: { type: "api_error", message } })];
  }

  body(): object {
    const { model } = this.#request;
    return {
      id: this.#id,
      type: "message",
      role: "assistant",
      model,
      content: this.#blocks.map((block) => ({ ...block })),
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(this.#begun),
      ...this.#end,
    };
  }

  #stream(type: "text" | "thinking", text: string): StreamEvent[] {
    const opening = this.#open === type ? [] : [...this.#close(), ...this.#start(type)];
    const index = this.#blocks.length - 1;
    const block = this.#blocks[index] ?? {};
    block[type] = `${block[type]}${text}`;
    return [...opening, delta(index, { type: `${type}_delta`, [type]: text })];
  }

  #start(type: "text" | "thinking"): StreamEvent[] {
    const block = type === "text" ? { type, text: "" } : { type, thinking: "", signature: "" };
    this.#open = type;
    this.#blocks.push({ ...block });
    return [event("content_block_start", { index: this.#blocks.length - 1, content_block: block })];
  }

  #close(): StreamEvent[] {
    const index = this.#blocks.length - 1;
    const block = this.#blocks[index];
    if (this.#open === undefined || block === undefined) return [];
    const isThinking = this.#open === "thinking";
    this.#open = undefined;
    // Clients send thinking back only if it is signed; the signature itself means nothing here.
    const signature = Buffer.from(`flint offline ${this.#id}`).toString("base64");
    if (isThinking) block.signature = signature;
    return [
      ...(isThinking ? [delta(index, { type: "signature_delta", signature })] : []),
      event("content_block_stop", { index }),
    ];
  }

  #flushWithheld(): StreamEvent[] {
    const text = this.#withheld;
    this.#withheld = "";
    return text === "" ? [] : this.#stream("text", text);
  }

  #toolUse(part: Extract<ModelPart, { type: "tool-call" }>): StreamEvent[] {
    const { id, name, input, text } = this.#request.tools.toRequest(part);
    const index = this.#blocks.length;
    this.#blocks.push({ type: "tool_use", id, name, input });
    return [
      event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }),
      delta(index, { type: "input_json_delta", partial_json: text }),
      event("content_block_stop", { index }),
    ];
  }
}

function event(type: string, fields: object): StreamEvent {
  return { name: type, data: { type, ...fields } };
}

function delta(index: number, change: object): StreamEvent {
  return event("content_block_delta", { index, delta: change });
}

/** This API counts thinking as output. */
function usageOf(usage: TokenUsage): object {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
    cache_read_input_tokens: usage.cacheReadTokens ?? 0,
    output_tokens: usage.outputTokens + (usage.thinkingTokens ?? 0),
  };
}

function addMessage({ role, content }: BodyMessage, conversation: RequestConversation): void {
  const text = contentText(content);
  if (role === "system") conversation.addSystem(text);
  if (role === "assistant") conversation.addAssistant(text);
  for (const part of content) {
    if (part.type === "tool_use") conversation.addCall(part.id ?? "", part.name ?? "", part.input);
    if (part.type === "tool_result")
      conversation.addResult(part.tool_use_id ?? "", contentText(part.content), part.is_error === true);
  }
  if (role === "user") conversation.addUser(text);
}
