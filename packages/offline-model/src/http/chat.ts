import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import { Given } from "../intents/given.ts";
import { CallersConversation } from "./callers-conversation.ts";
import { wantsTitle, workingDirectory } from "./callers-text.ts";
import { type CallersTool, CallersTools } from "./callers-tools.ts";
import { contentText } from "./content-text.ts";
import { modelRequest } from "./model-request.ts";
import { openAiFailure } from "./open-ai-failure.ts";
import { openAiUsage } from "./open-ai-usage.ts";
import type { Answer, ModelCall, Shape, StreamEvent } from "./shape.ts";

/** A call in the shape of Chat Completions, with what only that shape has. */
interface ChatCall extends ModelCall {
  readonly tellsUsage: boolean;
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  tools: "tool_calls",
  length: "length",
  filtered: "content_filter",
};

/** OpenAI's Chat Completions, which most other servers speak too. */
export class ChatShape implements Shape {
  read(body: unknown): ChatCall {
    const given = new Given(body, "");
    const messages = given.at("messages").items();
    const texts = messages.map((message) => contentText(message.at("content")));
    const tools = new CallersTools(
      given.at("tools").optionalItems().flatMap(readTool),
      workingDirectory(texts),
    );
    const conversation = new CallersConversation(tools);
    for (const message of messages) readMessage(message, conversation);
    const options = given.at("stream_options");
    const system = conversation.messages.find(({ role }) => role === "system")?.text ?? "";
    return {
      model: given.at("model").text(),
      streaming: given.at("stream").value === true,
      tools,
      isTitle: wantsTitle(system, tools.count),
      tellsUsage: options.isObject && options.at("include_usage").value === true,
      request: modelRequest(conversation.messages, tools, schemaOf(given.at("response_format"))),
    };
  }

  answer(call: ModelCall): Answer {
    return new ChatAnswer(call, "tellsUsage" in call && call.tellsUsage === true);
  }

  failure(status: number, message: string): unknown {
    return openAiFailure(status, message);
  }
}

class ChatAnswer implements Answer {
  readonly #call: ModelCall;
  readonly #tellsUsage: boolean;
  readonly #id = `chatcmpl-${randomUUID()}`;
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #calls: object[] = [];
  #text = "";
  #reasoning = "";
  #ending: { readonly reason: string; readonly usage: object } | undefined;

  constructor(call: ModelCall, tellsUsage: boolean) {
    this.#call = call;
    this.#tellsUsage = tellsUsage;
  }

  begin(): StreamEvent[] {
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
      case "tool-call":
        return this.#toolCall(part);
      default:
        return [];
    }
  }

  end(reason: FinishReason, usage: TokenUsage): StreamEvent[] {
    this.#ending = { reason: FINISH_REASONS[reason], usage: usageOf(usage) };
    const base = { ...this.#base("chat.completion.chunk"), choices: [], usage: this.#ending.usage };
    return [
      this.#chunk({}, this.#ending.reason),
      ...(this.#tellsUsage ? [{ data: base }] : []),
      { data: "[DONE]" },
    ];
  }

  fail(message: string): StreamEvent[] {
    return [{ data: openAiFailure(500, message) }];
  }

  whole(): unknown {
    const message = {
      role: "assistant",
      content: this.#text === "" && this.#calls.length > 0 ? null : this.#text,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
      refusal: null,
    };
    return {
      ...this.#base("chat.completion"),
      choices: [{ index: 0, message, finish_reason: this.#ending?.reason ?? null, logprobs: null }],
      usage: this.#ending?.usage,
    };
  }

  #toolCall(part: Extract<ModelPart, { type: "tool-call" }>): StreamEvent[] {
    const { id, name, text } = this.#call.tools.outward(part);
    const index = this.#calls.length;
    this.#calls.push({ id, type: "function", function: { name, arguments: text } });
    const half = Math.ceil(text.length / 2);
    const begun = { index, id, type: "function", function: { name, arguments: "" } };
    const pieces = [text.slice(0, half), text.slice(half)].filter(Boolean);
    return [
      this.#chunk({ tool_calls: [begun] }),
      ...pieces.map((piece) => this.#chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  }

  #chunk(delta: object, reason: string | null = null): StreamEvent {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    return { data: { ...this.#base("chat.completion.chunk"), choices } };
  }

  #base(object: string): object {
    return { id: this.#id, object, created: this.#created, model: this.#call.model };
  }
}

function usageOf(usage: TokenUsage): object {
  const { input, cached, output, thinking, total } = openAiUsage(usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: thinking },
  };
}

function readTool(given: Given): CallersTool[] {
  // The other kind takes a free text of a grammar that only its caller knows.
  if (given.at("type").value !== "function") return [];
  const described = given.at("function");
  const parameters = described.at("parameters");
  return [
    {
      name: described.at("name").text(),
      kind: "function",
      description: described.at("description").optionalText() ?? "",
      parameters: parameters.isMissing ? {} : parameters.fields(),
    },
  ];
}

function readMessage(given: Given, conversation: CallersConversation): void {
  const text = contentText(given.at("content"));
  switch (given.at("role").oneOf(["system", "developer", "user", "assistant", "tool"])) {
    case "system":
    case "developer":
      conversation.instructed(text);
      return;
    case "user":
      conversation.asked(text);
      return;
    case "tool":
      conversation.answered(given.at("tool_call_id").text(), text, false);
      return;
    case "assistant":
      conversation.said(text);
      for (const call of given.at("tool_calls").optionalItems()) readCall(call, conversation);
  }
}

function readCall(given: Given, conversation: CallersConversation): void {
  const called = given.at("function");
  conversation.called(
    given.at("id").text(),
    called.at("name").text(),
    argumentsOf(called.at("arguments").text()),
  );
}

/** The arguments of a call, or their text if that is no JSON. */
export function argumentsOf(text: string): unknown {
  // Expected: arguments that are no JSON, which a script can ask for.
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function schemaOf(format: Given): Readonly<Record<string, unknown>> | undefined {
  if (!format.isObject) return undefined;
  if (format.at("type").value === "json_object")
    return { type: "object", properties: { answer: { type: "string" } } };
  if (format.at("type").value !== "json_schema") return undefined;
  return format.at("json_schema").at("schema").fields();
}
