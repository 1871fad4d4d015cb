import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import { JsonError, JsonReader } from "../json-reader.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type ModelApi,
  openAiError,
  openAiUsage,
  type StreamEvent,
} from "./api.ts";
import type { RequestCall } from "./request-tools.ts";
import { parseResponsesRequest } from "./responses-request.ts";

type Item = Record<string, unknown>;

/** More items would only be stored for clients that are long gone. */
const MAX_STORED = 1_000;

/** OpenAI's Responses API. Stores the latest output, because clients may refer to its items. */
export class ResponsesApi implements ModelApi {
  readonly #stored = new Map<unknown, Item>();
  readonly errorBody = openAiError;

  parse(body: JsonReader): ApiRequest {
    const input = body.field("input");
    const items = input.isArray
      ? input.array()
      : [new JsonReader({ role: "user", content: input.string() }, "input")];
    return parseResponsesRequest(
      body,
      items.map((item) => this.#resolve(item)),
    );
  }

  respond(request: ApiRequest): ApiResponse {
    return new Response(request, (item) => {
      this.#stored.set(item.id, item);
      const [oldest] = this.#stored.keys();
      if (this.#stored.size > MAX_STORED) this.#stored.delete(oldest);
    });
  }

  #resolve(item: JsonReader): JsonReader {
    if (item.field("type").value !== "item_reference") return item;
    const id = item.field("id").string();
    const found = this.#stored.get(id);
    if (found === undefined)
      throw new JsonError(`${item.path} refers to ${JSON.stringify(id)}, which is unknown.`);
    return new JsonReader(found, item.path);
  }
}

class Response implements ApiResponse {
  readonly #request: ApiRequest;
  readonly #store: (item: Item) => void;
  readonly #id = newId("resp");
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #output: Item[] = [];
  #open: { readonly type: "message" | "reasoning"; readonly id: string; text: string } | undefined;
  #sequence = 0;
  #end: Item = { status: "in_progress", usage: null };

  constructor(request: ApiRequest, store: (item: Item) => void) {
    this.#request = request;
    this.#store = store;
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

  body(): Item {
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

  #done(item: Item): StreamEvent {
    const event = this.#itemEvent("done", item);
    this.#output.push(item);
    this.#store(item);
    this.#open = undefined;
    return event;
  }

  #itemEvent(what: "added" | "done", item: Item): StreamEvent {
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

function usageOf(usage: TokenUsage): Item {
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
