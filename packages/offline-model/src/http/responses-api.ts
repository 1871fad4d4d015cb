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
  newId,
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
    const added = items.flatMap(({ type, tools }) => (type === "additional_tools" ? tools : []));
    const offered = [...body.tools, ...added].flatMap(toolsIn);
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

/** The streaming of the two kinds of text: the names of their events, and of the index of their only part. */
const TEXTS = {
  message: { id: "msg", text: "response.output_text", part: "response.content_part", index: "content_index" },
  reasoning: {
    id: "rs",
    text: "response.reasoning_summary_text",
    part: "response.reasoning_summary_part",
    index: "summary_index",
  },
};

function textItem(type: keyof typeof TEXTS, id: string, text: string | undefined): OutputItem {
  const part = text === undefined ? [] : [textPart(type, text)];
  if (type === "reasoning") return { type, id, summary: part, encrypted_content: null };
  const status = text === undefined ? "in_progress" : "completed";
  return { type, id, status, role: "assistant", content: part };
}

function textPart(type: keyof typeof TEXTS, text: string): object {
  if (type === "reasoning") return { type: "summary_text", text };
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

class Response implements ApiResponse {
  readonly #request: ApiRequest;
  readonly #id = newId("resp");
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #output: OutputItem[] = [];
  #open: { readonly type: keyof typeof TEXTS; readonly id: string; text: string } | undefined;
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
      usage: openAiUsage(usage, "input", "output"),
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

  #stream(type: keyof typeof TEXTS, text: string): StreamEvent[] {
    const opening = this.#open?.type === type ? [] : [...this.#close(), ...this.#start(type)];
    if (this.#open !== undefined) this.#open.text += text;
    return [...opening, this.#textEvent(`${TEXTS[type].text}.delta`, { delta: text })];
  }

  #start(type: keyof typeof TEXTS): StreamEvent[] {
    this.#open = { type, id: newId(TEXTS[type].id), text: "" };
    return [
      this.#itemEvent("added", textItem(type, this.#open.id, undefined)),
      this.#textEvent(`${TEXTS[type].part}.added`, { part: textPart(type, "") }),
    ];
  }

  #close(): StreamEvent[] {
    if (this.#open === undefined) return [];
    const { type, id, text } = this.#open;
    return [
      this.#textEvent(`${TEXTS[type].text}.done`, { text }),
      this.#textEvent(`${TEXTS[type].part}.done`, { part: textPart(type, text) }),
      this.#done(textItem(type, id, text)),
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

  #textEvent(name: string, fields: object): StreamEvent {
    const { id, type } = this.#open ?? { id: "", type: "message" };
    const position = { item_id: id, output_index: this.#output.length, [TEXTS[type].index]: 0 };
    return this.#event(name, { ...position, ...fields });
  }

  #event(type: string, fields: object): StreamEvent {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return { name: type, data: { type, sequence_number, ...fields } };
  }
}
