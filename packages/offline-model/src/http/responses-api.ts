import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import {
  type ApiRequest,
  type ApiResponse,
  apiRequest,
  type BodyMessage,
  type BodyTool,
  contentText,
  functionTool,
  HttpError,
  type ModelApi,
  openAiError,
  openAiUsage,
  parseArguments,
  parseBody,
  type StreamEvent,
} from "./api.ts";
import { escalatesCommands, RequestConversation, workingDirectory } from "./conversation.ts";
import { type RequestCall, type RequestTool, RequestTools } from "./request-tools.ts";

/** OpenAI's Responses API. Nothing is stored, so every request has to contain the whole conversation. */
export const responsesApi: ModelApi = {
  parse(value) {
    const body = parseBody(value, "input");
    const items = body.messages;
    if (body.previous_response_id || items.some(({ type }) => type === "item_reference"))
      throw new HttpError(400, "Responses are not stored here: send the whole conversation as the input.");
    const texts = [body.instructions ?? "", ...items.map(({ content }) => contentText(content))];
    // Codex sends the tools of its newest models in an item.
    const offered = [...body.tools, ...items.flatMap(({ tools }) => tools)].flatMap(toolsIn);
    const tools = new RequestTools(offered, workingDirectory(texts), escalatesCommands(texts));
    const conversation = new RequestConversation(tools);
    conversation.addSystem(body.instructions ?? "");
    for (const item of items) addItem(item, conversation);
    return apiRequest(body, conversation, body.text?.format?.schema ?? undefined);
  },
  respond: (request) => new Response(request),
  errorBody: openAiError,
};

/** Tools that run at the provider, such as a web search, cannot be called here. */
function toolsIn({ type, tools = [], ...tool }: Partial<BodyTool>): RequestTool[] {
  if (type === "namespace")
    return tools.flatMap(toolsIn).map((each) => ({ ...each, namespace: tool.name ?? "" }));
  return type === "function" || type === "custom" ? [{ ...functionTool(tool), kind: type }] : [];
}

function addItem({ type, role, ...item }: BodyMessage, conversation: RequestConversation): void {
  const callId = item.call_id ?? item.id ?? "";
  const text = contentText(item.content);
  if (type === "function_call")
    conversation.addCall(callId, item.name ?? "", parseArguments(item.arguments ?? ""));
  else if (type === "custom_tool_call") conversation.addCall(callId, item.name ?? "", { input: item.input });
  else if (type === "function_call_output" || type === "custom_tool_call_output")
    conversation.addResult(callId, contentText(item.output, ""));
  else if ((type ?? "message") !== "message") return;
  else if (role === "user") conversation.addUser(text);
  else if (role === "assistant") conversation.addAssistant(text);
  else conversation.addSystem(text);
}

type OutputItem = Record<string, unknown>;

class Response implements ApiResponse {
  readonly #request: ApiRequest;
  readonly #id = newId("resp");
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #output: OutputItem[] = [];
  #open: { readonly type: "message" | "reasoning"; readonly id: string; text: string } | undefined;
  #sequence = 0;
  #end: OutputItem = { status: "in_progress", usage: null };

  constructor(request: ApiRequest) {
    this.#request = request;
  }

  start(): StreamEvent[] {
    return [
      this.#event("response.created", { response: this.body() }),
      this.#event("response.in_progress", { response: this.body() }),
    ];
  }

  part(part: ModelPart): StreamEvent[] {
    switch (part.type) {
      case "text-delta":
        return this.#stream("message", part.text);
      case "reasoning-delta":
        return this.#stream("reasoning", part.text);
      case "tool-call":
        return [...this.#close(), ...this.#call(this.#request.tools.toRequest(part))];
      default:
        return [];
    }
  }

  finish(reason: FinishReason, usage: TokenUsage): StreamEvent[] {
    const closing = this.#close();
    const isWhole = reason === "stop" || reason === "tools";
    const cause = reason === "length" ? "max_output_tokens" : "content_filter";
    this.#end = {
      status: isWhole ? "completed" : "incomplete",
      ...(isWhole ? {} : { incomplete_details: { reason: cause } }),
      usage: usageOf(usage),
    };
    return [...closing, this.#event(`response.${this.#end.status}`, { response: this.body() })];
  }

  fail(message: string): StreamEvent[] {
    this.#end = { status: "failed", error: { code: "server_error", message }, usage: null };
    return [this.#event("response.failed", { response: this.body() })];
  }

  body(): OutputItem {
    return {
      id: this.#id,
      object: "response",
      created_at: this.#created,
      model: this.#request.model,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      output: [...this.#output],
      parallel_tool_calls: true,
      previous_response_id: null,
      tool_choice: "auto",
      tools: [],
      ...this.#end,
    };
  }

  #stream(type: "message" | "reasoning", text: string): StreamEvent[] {
    const opening = this.#open?.type === type ? [] : [...this.#close(), ...this.#start(type)];
    if (this.#open !== undefined) this.#open.text += text;
    return [
      ...opening,
      type === "message"
        ? this.#partEvent("response.output_text.delta", { content_index: 0, delta: text, logprobs: [] })
        : this.#partEvent("response.reasoning_summary_text.delta", { summary_index: 0, delta: text }),
    ];
  }

  #start(type: "message" | "reasoning"): StreamEvent[] {
    this.#open = { type, id: newId(type === "message" ? "msg" : "rs"), text: "" };
    const { id } = this.#open;
    if (type === "reasoning") {
      const part = { type: "summary_text", text: "" };
      return [
        this.#itemEvent("added", { type, id, summary: [] }),
        this.#partEvent("response.reasoning_summary_part.added", { summary_index: 0, part }),
      ];
    }
    const part = { type: "output_text", text: "", annotations: [] };
    return [
      this.#itemEvent("added", { type, id, status: "in_progress", role: "assistant", content: [] }),
      this.#partEvent("response.content_part.added", { content_index: 0, part }),
    ];
  }

  #close(): StreamEvent[] {
    if (this.#open === undefined) return [];
    const { type, id, text } = this.#open;
    if (type === "reasoning") {
      const part = { type: "summary_text", text };
      return [
        this.#partEvent("response.reasoning_summary_text.done", { summary_index: 0, text }),
        this.#partEvent("response.reasoning_summary_part.done", { summary_index: 0, part }),
        this.#done({ type, id, summary: [part], encrypted_content: null }),
      ];
    }
    const part = { type: "output_text", text, annotations: [], logprobs: [] };
    return [
      this.#partEvent("response.output_text.done", { content_index: 0, text, logprobs: [] }),
      this.#partEvent("response.content_part.done", { content_index: 0, part }),
      this.#done({ type, id, status: "completed", role: "assistant", content: [part] }),
    ];
  }

  #call({ id: call_id, name, kind, namespace, text }: RequestCall): StreamEvent[] {
    const [type, field, delta] =
      kind === "custom"
        ? ["custom_tool_call", "input", "response.custom_tool_call_input"]
        : ["function_call", "arguments", "response.function_call_arguments"];
    // Tools of the namespace "functions" are called by their name alone.
    const group = namespace === undefined || namespace === "functions" ? {} : { namespace };
    const item = { type, id: newId("fc"), call_id, name, ...group, [field]: text, status: "completed" };
    const position = { item_id: item.id, output_index: this.#output.length };
    return [
      this.#itemEvent("added", { ...item, [field]: "", status: "in_progress" }),
      this.#event(`${delta}.delta`, { ...position, delta: text }),
      this.#event(`${delta}.done`, { ...position, [field]: text }),
      this.#done(item),
    ];
  }

  #done(item: OutputItem): StreamEvent {
    const event = this.#itemEvent("done", item);
    this.#output.push(item);
    this.#open = undefined;
    return event;
  }

  #itemEvent(what: "added" | "done", item: OutputItem): StreamEvent {
    return this.#event(`response.output_item.${what}`, { output_index: this.#output.length, item });
  }

  #partEvent(type: string, fields: object): StreamEvent {
    return this.#event(type, { item_id: this.#open?.id, output_index: this.#output.length, ...fields });
  }

  #event(type: string, fields: object): StreamEvent {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return { name: type, data: { type, sequence_number, ...fields } };
  }
}

function usageOf(usage: TokenUsage): OutputItem {
  const { input, cached, output, reasoning, total } = openAiUsage(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total,
  };
}

function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "")}`;
}
