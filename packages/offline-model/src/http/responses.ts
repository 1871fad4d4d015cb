import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import type { OutwardCall } from "./callers-tools.ts";
import { openAiFailure } from "./open-ai-failure.ts";
import { openAiUsage } from "./open-ai-usage.ts";
import { RememberedResponses } from "./remembered-responses.ts";
import { readResponsesCall } from "./responses-reading.ts";
import type { Answer, ModelCall, Shape, StreamEvent } from "./shape.ts";

/** OpenAI's Responses. Keeps the latest of them, because callers may refer to what was said before. */
export class ResponsesShape implements Shape {
  readonly #remembered = new RememberedResponses();

  read(body: unknown): ModelCall {
    return readResponsesCall(body, this.#remembered);
  }

  answer(call: ModelCall): Answer {
    return new ResponsesAnswer(call, (id, output) => this.#remembered.keep(id, call, output));
  }

  failure(status: number, message: string): unknown {
    return openAiFailure(status, message);
  }
}

type Fields = Record<string, unknown>;

class ResponsesAnswer implements Answer {
  readonly #call: ModelCall;
  readonly #keep: (id: string, output: readonly Fields[]) => void;
  readonly #id = newId("resp");
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #output: Fields[] = [];
  #open: { readonly type: "message" | "reasoning"; readonly id: string; text: string } | undefined;
  #sequence = 0;
  #ending: Fields = { status: "in_progress", usage: null };

  constructor(call: ModelCall, keep: (id: string, output: readonly Fields[]) => void) {
    this.#call = call;
    this.#keep = keep;
  }

  begin(): StreamEvent[] {
    return [
      this.#event("response.created", { response: this.#response() }),
      this.#event("response.in_progress", { response: this.#response() }),
    ];
  }

  part(part: ModelPart): StreamEvent[] {
    switch (part.type) {
      case "text-delta":
        return this.#stream("message", part.text);
      case "reasoning-delta":
        return this.#stream("reasoning", part.text);
      case "tool-call":
        return [...this.#close(), ...this.#callItem(this.#call.tools.outward(part))];
      default:
        return [];
    }
  }

  end(reason: FinishReason, usage: TokenUsage): StreamEvent[] {
    const closing = this.#close();
    const cause = reason === "length" ? "max_output_tokens" : "content_filter";
    const isWhole = reason === "stop" || reason === "tools";
    this.#ending = {
      status: isWhole ? "completed" : "incomplete",
      ...(isWhole ? {} : { incomplete_details: { reason: cause } }),
      usage: usageOf(usage),
    };
    this.#keep(this.#id, this.#output);
    const name = isWhole ? "response.completed" : "response.incomplete";
    return [...closing, this.#event(name, { response: this.#response() })];
  }

  fail(message: string): StreamEvent[] {
    this.#ending = { status: "failed", error: { code: "server_error", message }, usage: null };
    return [this.#event("response.failed", { response: this.#response() })];
  }

  whole(): unknown {
    return this.#response();
  }

  #response(): Fields {
    return {
      id: this.#id,
      object: "response",
      created_at: this.#created,
      model: this.#call.model,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      output: [...this.#output],
      parallel_tool_calls: true,
      previous_response_id: null,
      tool_choice: "auto",
      tools: [],
      ...this.#ending,
    };
  }

  #stream(type: "message" | "reasoning", text: string): StreamEvent[] {
    const opening = this.#open?.type === type ? [] : [...this.#close(), ...this.#begin(type)];
    if (this.#open === undefined) return opening;
    this.#open.text += text;
    const place = { item_id: this.#open.id, output_index: this.#output.length };
    const delta =
      type === "message"
        ? this.#event("response.output_text.delta", { ...place, content_index: 0, delta: text, logprobs: [] })
        : this.#event("response.reasoning_summary_text.delta", { ...place, summary_index: 0, delta: text });
    return [...opening, delta];
  }

  #begin(type: "message" | "reasoning"): StreamEvent[] {
    const id = newId(type === "message" ? "msg" : "rs");
    this.#open = { type, id, text: "" };
    const place = { item_id: id, output_index: this.#output.length };
    const added = (item: Fields) =>
      this.#event("response.output_item.added", { output_index: this.#output.length, item });
    if (type === "reasoning") {
      const part = { type: "summary_text", text: "" };
      return [
        added({ type, id, summary: [] }),
        this.#event("response.reasoning_summary_part.added", { ...place, summary_index: 0, part }),
      ];
    }
    const part = { type: "output_text", text: "", annotations: [] };
    return [
      added({ type, id, status: "in_progress", role: "assistant", content: [] }),
      this.#event("response.content_part.added", { ...place, content_index: 0, part }),
    ];
  }

  #close(): StreamEvent[] {
    const open = this.#open;
    if (open === undefined) return [];
    this.#open = undefined;
    const place = { item_id: open.id, output_index: this.#output.length };
    if (open.type === "reasoning") {
      const part = { type: "summary_text", text: open.text };
      return [
        this.#event("response.reasoning_summary_text.done", { ...place, summary_index: 0, text: open.text }),
        this.#event("response.reasoning_summary_part.done", { ...place, summary_index: 0, part }),
        this.#done({ type: "reasoning", id: open.id, summary: [part], encrypted_content: null }),
      ];
    }
    const part = { type: "output_text", text: open.text, annotations: [], logprobs: [] };
    return [
      this.#event("response.output_text.done", { ...place, content_index: 0, text: open.text, logprobs: [] }),
      this.#event("response.content_part.done", { ...place, content_index: 0, part }),
      this.#done({ type: "message", id: open.id, status: "completed", role: "assistant", content: [part] }),
    ];
  }

  #callItem(call: OutwardCall): StreamEvent[] {
    const item = itemOf(call);
    const output_index = this.#output.length;
    const place = { item_id: item.id, output_index };
    const added = this.#event("response.output_item.added", {
      output_index,
      item: { ...item, ...unfinished(call) },
    });
    if (call.kind === "localShell") return [added, this.#done(item)];
    const [name, field] =
      call.kind === "custom"
        ? ["response.custom_tool_call_input", "input"]
        : ["response.function_call_arguments", "arguments"];
    return [
      added,
      this.#event(`${name}.delta`, { ...place, delta: call.text }),
      this.#event(`${name}.done`, { ...place, [field]: call.text }),
      this.#done(item),
    ];
  }

  #done(item: Fields): StreamEvent {
    const output_index = this.#output.length;
    this.#output.push(item);
    return this.#event("response.output_item.done", { output_index, item });
  }

  #event(type: string, fields: object): StreamEvent {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return { name: type, data: { type, sequence_number, ...fields } };
  }
}

/** A call as an item of the output. */
function itemOf({ id: call_id, name, kind, namespace, input, text }: OutwardCall): Fields {
  // Tools of the group "functions" are called by their name alone, as all tools once were.
  const group = namespace === undefined || namespace === "functions" ? {} : { namespace };
  switch (kind) {
    case "function":
      return {
        type: "function_call",
        id: newId("fc"),
        call_id,
        name,
        ...group,
        arguments: text,
        status: "completed",
      };
    case "custom":
      return {
        type: "custom_tool_call",
        id: newId("ctc"),
        call_id,
        name,
        ...group,
        input: text,
        status: "completed",
      };
    case "localShell": {
      const action = { type: "exec", command: ["bash", "-lc", String(input.command)], env: {} };
      return { type: "local_shell_call", id: newId("lsc"), call_id, status: "completed", action };
    }
  }
}

function unfinished({ kind }: OutwardCall): Fields {
  if (kind === "localShell") return { status: "in_progress" };
  return { status: "in_progress", [kind === "custom" ? "input" : "arguments"]: "" };
}

function usageOf(usage: TokenUsage): Fields {
  const { input, cached, output, thinking, total } = openAiUsage(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: total,
  };
}

function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "")}`;
}
