import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import {
  type ApiRequest,
  type ApiResponse,
  apiRequest,
  type BodyMessage,
  contentText,
  functionTool,
  type ModelApi,
  newId,
  openAiError,
  openAiUsage,
  parseArguments,
  parseBody,
  type StreamEvent,
} from "./api.ts";
import { RequestConversation, workingDirectory } from "./conversation.ts";
import { RequestTools } from "./request-tools.ts";

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

/** The schema of an answer that only has to be JSON. */
const ANY_ANSWER = { type: "object", properties: { answer: { type: "string" } } };

/** OpenAI's Chat Completions API, which most other servers have too. */
export const chatApi: ModelApi<ChatRequest> = {
  parse(value) {
    const body = parseBody(value, "messages");
    const texts = body.messages.map(({ content }) => contentText(content));
    // Tools of any other kind take a string of a grammar that only the client knows.
    const tools = body.tools.flatMap(({ function: tool }) => (tool ? [functionTool(tool)] : []));
    const conversation = new RequestConversation(new RequestTools(tools, workingDirectory(texts)));
    for (const message of body.messages) addMessage(message, conversation);
    const { type, json_schema } = body.response_format ?? {};
    const schema = type === "json_object" ? ANY_ANSWER : (json_schema?.schema ?? undefined);
    return {
      ...apiRequest(body, conversation, schema),
      streamsUsage: body.stream_options?.include_usage === true,
    };
  },
  respond: (request) => new ChatResponse(request),
  errorBody: openAiError,
};

class ChatResponse implements ApiResponse {
  readonly #request: ChatRequest;
  readonly #id = newId("chatcmpl");
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
    this.#end = { reason: FINISH_REASONS[reason], usage: openAiUsage(usage, "prompt", "completion") };
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

function addMessage(message: BodyMessage, conversation: RequestConversation): void {
  const text = contentText(message.content);
  if (message.role === "user") conversation.addUser(text);
  else if (message.role === "tool") conversation.addResult(message.tool_call_id ?? "", text);
  else if (message.role === "assistant") {
    conversation.addAssistant(text);
    for (const { id, function: called } of message.tool_calls)
      conversation.addCall(id, called.name ?? "", parseArguments(called.arguments ?? ""));
  } else conversation.addSystem(text);
}
