import { randomUUID } from "node:crypto";
import { tokensOf } from "@flint/agent/conversation";
import type { FinishReason, ModelPart } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import { Given } from "../intents/given.ts";
import { CallersConversation } from "./callers-conversation.ts";
import { wantsTitle, workingDirectory } from "./callers-text.ts";
import { type CallersTool, CallersTools } from "./callers-tools.ts";
import { contentText } from "./content-text.ts";
import { modelRequest } from "./model-request.ts";
import type { Answer, ModelCall, Shape, StreamEvent } from "./shape.ts";

/** A call in the shape of Anthropic's Messages, with what only that shape has. */
interface MessagesCall extends ModelCall {
  readonly showsThinking: boolean;
  /** Whether the caller wants its answer as the input of a tool that it has for that. */
  readonly answersByTool: boolean;
}

/** The tool with which Claude Code takes an answer that has to fit a schema: the schema of the tool. */
const ANSWER_TOOL = "StructuredOutput";

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
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

/** Anthropic's Messages. */
export class AnthropicShape implements Shape {
  read(body: unknown): MessagesCall {
    const given = new Given(body, "");
    const system = contentText(given.at("system"));
    const messages = given.at("messages").items();
    const directory = workingDirectory([
      system,
      ...messages.map((message) => contentText(message.at("content"))),
    ]);
    const offered = given.at("tools").optionalItems().flatMap(readTool);
    const tools = new CallersTools(offered, directory);
    const answerTool = offered.find(({ name }) => name === ANSWER_TOOL);
    const conversation = new CallersConversation(tools);
    conversation.instructed(system);
    for (const message of messages) readMessage(message, conversation);
    const thinking = given.at("thinking");
    return {
      model: given.at("model").text(),
      streaming: given.at("stream").value === true,
      tools,
      isTitle: wantsTitle(system, tools.count),
      showsThinking: thinking.isObject && thinking.at("type").value !== "disabled",
      answersByTool: answerTool !== undefined,
      request: modelRequest(conversation.messages, tools, schemaOf(given) ?? answerTool?.parameters),
    };
  }

  answer(call: ModelCall): Answer {
    const { showsThinking, answersByTool } = { showsThinking: false, answersByTool: false, ...call };
    return new MessagesAnswer(call, { showsThinking, answersByTool });
  }

  failure(status: number, message: string): unknown {
    const type = ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
    return { type: "error", error: { type, message } };
  }
}

type Block = Record<string, unknown>;
type Ways = Pick<MessagesCall, "showsThinking" | "answersByTool">;

class MessagesAnswer implements Answer {
  readonly #call: ModelCall;
  readonly #ways: Ways;
  readonly #id = `msg_${randomUUID().replaceAll("-", "")}`;
  readonly #blocks: Block[] = [];
  #openType: "text" | "thinking" | undefined;
  /** The answer that is given with a tool, when it is whole. */
  #withheld = "";
  #ending: { readonly stopReason: string; readonly usage: object } | undefined;

  constructor(call: ModelCall, ways: Ways) {
    this.#call = call;
    this.#ways = ways;
  }

  begin(): StreamEvent[] {
    return [event("message_start", { message: this.#message() }), event("ping", {})];
  }

  part(part: ModelPart): StreamEvent[] {
    switch (part.type) {
      case "text-delta":
        if (!this.#ways.answersByTool) return this.#stream("text", part.text);
        this.#withheld += part.text;
        return [];
      case "reasoning-delta":
        return this.#ways.showsThinking ? this.#stream("thinking", part.text) : [];
      case "tool-call":
        return [...this.#tellWithheld(), ...this.#close(), ...this.#toolUse(part)];
      default:
        return [];
    }
  }

  end(reason: FinishReason, usage: TokenUsage): StreamEvent[] {
    const input = reason === "stop" ? objectIn(this.#withheld) : undefined;
    const closing =
      input === undefined
        ? [...this.#tellWithheld(), ...this.#close()]
        : [...this.#close(), ...this.#answerByTool(input)];
    const stopReason = STOP_REASONS[input === undefined ? reason : "tools"];
    this.#ending = { stopReason, usage: usageOf(usage) };
    const delta = { stop_reason: this.#ending.stopReason, stop_sequence: null };
    return [
      ...closing,
      event("message_delta", { delta, usage: this.#ending.usage }),
      event("message_stop", {}),
    ];
  }

  fail(message: string): StreamEvent[] {
    return [event("error", { error: { type: "api_error", message } })];
  }

  whole(): unknown {
    return this.#message();
  }

  #message(): object {
    const before = usageOf({ inputTokens: tokensOf(this.#call.request.messages), outputTokens: 0 });
    return {
      id: this.#id,
      type: "message",
      role: "assistant",
      model: this.#call.model,
      content: this.#blocks.map((block) => ({ ...block })),
      stop_reason: this.#ending?.stopReason ?? null,
      stop_sequence: null,
      usage: this.#ending?.usage ?? before,
    };
  }

  #stream(type: "text" | "thinking", text: string): StreamEvent[] {
    const opening = this.#openType === type ? [] : [...this.#close(), ...this.#open(type)];
    const index = this.#blocks.length - 1;
    const block = this.#blocks[index] ?? {};
    block[type] = `${block[type]}${text}`;
    return [
      ...opening,
      event("content_block_delta", { index, delta: { type: `${type}_delta`, [type]: text } }),
    ];
  }

  #open(type: "text" | "thinking"): StreamEvent[] {
    const block = type === "text" ? { type, text: "" } : { type, thinking: "", signature: "" };
    this.#openType = type;
    this.#blocks.push({ ...block });
    return [event("content_block_start", { index: this.#blocks.length - 1, content_block: block })];
  }

  #close(): StreamEvent[] {
    if (this.#openType === undefined) return [];
    const index = this.#blocks.length - 1;
    const block = this.#blocks[index] ?? {};
    const signing = this.#openType === "thinking" ? [this.#sign(index, block)] : [];
    this.#openType = undefined;
    return [...signing, event("content_block_stop", { index })];
  }

  /** Callers send thinking back only if it is signed; what the signature is does not matter here. */
  #sign(index: number, block: Block): StreamEvent {
    const signature = Buffer.from(`flint offline ${this.#id}`).toString("base64");
    block.signature = signature;
    return event("content_block_delta", { index, delta: { type: "signature_delta", signature } });
  }

  /** What is no answer for the tool is said as it is. */
  #tellWithheld(): StreamEvent[] {
    const text = this.#withheld;
    this.#withheld = "";
    return text === "" ? [] : this.#stream("text", text);
  }

  #answerByTool(input: Readonly<Record<string, unknown>>): StreamEvent[] {
    return this.#toolUse({ type: "tool-call", callId: `answer_${this.#id}`, tool: ANSWER_TOOL, input });
  }

  #toolUse(part: Extract<ModelPart, { type: "tool-call" }>): StreamEvent[] {
    const { id, name, input, text } = this.#call.tools.outward(part);
    const index = this.#blocks.length;
    this.#blocks.push({ type: "tool_use", id, name, input });
    const half = Math.ceil(text.length / 2);
    const pieces = [text.slice(0, half), text.slice(half)].filter(Boolean);
    return [
      event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }),
      ...pieces.map((partial_json) =>
        event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } }),
      ),
      event("content_block_stop", { index }),
    ];
  }
}

function event(type: string, fields: object): StreamEvent {
  return { name: type, data: { type, ...fields } };
}

/** In this shape thinking counts as output. */
function usageOf(usage: TokenUsage): object {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
    cache_read_input_tokens: usage.cacheReadTokens ?? 0,
    output_tokens: usage.outputTokens + (usage.thinkingTokens ?? 0),
  };
}

/** The object that a text is; undefined if it is anything else. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  // Expected: an answer in words.
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function readTool(given: Given): CallersTool[] {
  const name = given.at("name").text();
  const schema = given.at("input_schema");
  // Tools that the provider itself works with have no schema; nobody could answer such a call here.
  if (schema.isMissing) return [];
  const description = given.at("description").optionalText() ?? "";
  return [{ name, kind: "function", description, parameters: schema.fields() }];
}

function readMessage(given: Given, conversation: CallersConversation): void {
  const role = given.at("role").oneOf(["user", "assistant", "system"]);
  const content = given.at("content");
  const blocks = content.isList ? content.items() : [];
  if (role === "system") conversation.instructed(contentText(content));
  else if (role === "assistant") readAssistant(content, blocks, conversation);
  else {
    for (const block of blocks.filter((each) => each.at("type").value === "tool_result")) {
      const text = contentText(block.at("content"));
      conversation.answered(block.at("tool_use_id").text(), text, block.at("is_error").value === true);
    }
    conversation.asked(contentText(content));
  }
}

function readAssistant(content: Given, blocks: readonly Given[], conversation: CallersConversation): void {
  conversation.said(contentText(content));
  for (const block of blocks) {
    if (block.at("type").value !== "tool_use") continue;
    conversation.called(block.at("id").text(), block.at("name").text(), block.at("input").value);
  }
}

function schemaOf(given: Given): Readonly<Record<string, unknown>> | undefined {
  const format = given.at("output_config").isObject
    ? given.at("output_config").at("format")
    : given.at("output_format");
  if (!format.isObject || format.at("type").value !== "json_schema") return undefined;
  return format.at("schema").fields();
}
