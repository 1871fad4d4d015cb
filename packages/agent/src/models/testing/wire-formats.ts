/** A piece that a scripted model sends, on any API. */
export type Piece =
  | { readonly text: string }
  | { readonly thought: string }
  | { readonly call: string; readonly tool: string; readonly args: string };

/** The wire format of one API. */
export interface WireShape {
  readonly kind: "compatible" | "openai" | "anthropic";
  /** A whole response, with 100 input tokens of which 40 were cached, and 20 output tokens. */
  answer(...pieces: readonly Piece[]): string;
  /** A response without its end. */
  half(...pieces: readonly Piece[]): string;
  /** One part of a response that has begun. */
  more(piece: Piece): string;
  /** An error of the endpoint as a JSON body. */
  error(type: string, message: string): unknown;
}

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

const chunk = (delta: unknown, finish: string | null = null) =>
  event({ id: "chat_1", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });

function chatPiece(piece: Piece, index = 0): string {
  if ("text" in piece) return chunk({ content: piece.text });
  if ("thought" in piece) return chunk({ reasoning_content: piece.thought });
  const { call, tool, args } = piece;
  const named = chunk({
    tool_calls: [{ index, id: call, type: "function", function: { name: tool, arguments: "" } }],
  });
  return named + chunk({ tool_calls: [{ index, function: { arguments: args } }] });
}

/** OpenAI's Chat Completions API, as local servers and gateways have it. */
export const CHAT: WireShape = {
  kind: "compatible",
  half: (...pieces) =>
    chunk({ role: "assistant" }) + pieces.map((piece, at) => chatPiece(piece, at)).join(""),
  more: chatPiece,
  answer(...pieces) {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const reason = pieces.some((piece) => "call" in piece) ? "tool_calls" : "stop";
    const end = chunk({}, reason) + event({ id: "chat_1", choices: [], usage });
    return `${this.half(...pieces)}${end}data: [DONE]\n\n`;
  },
  error: (type, message) => ({ error: { message, type, code: type } }),
};

function responsesPiece(piece: Piece, at = 0): string {
  const position = { output_index: at };
  if ("text" in piece) {
    const item = { type: "message", id: `msg_${at}` };
    return [
      event({ type: "response.output_item.added", ...position, item }),
      event({ type: "response.output_text.delta", item_id: item.id, delta: piece.text }),
      event({ type: "response.output_item.done", ...position, item }),
    ].join("");
  }
  if ("thought" in piece) {
    const item = { type: "reasoning", id: `rs_${at}`, encrypted_content: "sealed", summary: [] };
    const summary = { item_id: item.id, summary_index: 0 };
    return [
      event({ type: "response.output_item.added", ...position, item }),
      event({ type: "response.reasoning_summary_part.added", ...summary }),
      event({ type: "response.reasoning_summary_text.delta", ...summary, delta: piece.thought }),
      event({ type: "response.output_item.done", ...position, item }),
    ].join("");
  }
  const item = { type: "function_call", id: `fc_${at}`, call_id: piece.call, name: piece.tool };
  const done = { ...item, arguments: piece.args, status: "completed" };
  return [
    event({ type: "response.output_item.added", ...position, item: { ...item, arguments: "" } }),
    event({
      type: "response.function_call_arguments.delta",
      item_id: item.id,
      ...position,
      delta: piece.args,
    }),
    event({ type: "response.output_item.done", ...position, item: done }),
  ].join("");
}

const created = event({ type: "response.created", response: { id: "resp_1", created_at: 1, model: "m" } });

/** OpenAI's Responses API. */
export const RESPONSES: WireShape = {
  kind: "openai",
  half: (...pieces) => created + pieces.map((piece, at) => responsesPiece(piece, at)).join(""),
  more: responsesPiece,
  answer(...pieces) {
    const usage = {
      input_tokens: 100,
      output_tokens: 20,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 5 },
    };
    return this.half(...pieces) + event({ type: "response.completed", response: { id: "resp_1", usage } });
  },
  error: (type, message) => ({ error: { message, type, code: type } }),
};

const named = (data: { type: string }) => `event: ${data.type}\n${event(data)}`;

function messagesPiece(piece: Piece, index = 0): string {
  const block = (content: unknown, ...deltas: unknown[]) =>
    [
      named(Object.assign({ type: "content_block_start" }, { index, content_block: content })),
      ...deltas.map((delta) => named(Object.assign({ type: "content_block_delta" }, { index, delta }))),
      named(Object.assign({ type: "content_block_stop" }, { index })),
    ].join("");
  if ("text" in piece) return block({ type: "text", text: "" }, { type: "text_delta", text: piece.text });
  if ("thought" in piece)
    return block(
      { type: "thinking", thinking: "" },
      { type: "thinking_delta", thinking: piece.thought },
      { type: "signature_delta", signature: "sealed" },
    );
  const { call: id, tool: name, args } = piece;
  return block({ type: "tool_use", id, name, input: {} }, { type: "input_json_delta", partial_json: args });
}

/** Anthropic's Messages API. */
export const MESSAGES: WireShape = {
  kind: "anthropic",
  half(...pieces) {
    const usage = { input_tokens: 60, output_tokens: 1, cache_read_input_tokens: 40 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
    return (
      named(Object.assign({ type: "message_start" }, { message })) +
      pieces.map((piece, at) => messagesPiece(piece, at)).join("")
    );
  },
  more: messagesPiece,
  answer(...pieces) {
    const stop_reason = pieces.some((piece) => "call" in piece) ? "tool_use" : "end_turn";
    const usage = { output_tokens: 20, output_tokens_details: { thinking_tokens: 5 } };
    const delta = { stop_reason, stop_sequence: null };
    return (
      this.half(...pieces) +
      named(Object.assign({ type: "message_delta" }, { delta, usage })) +
      named({ type: "message_stop" })
    );
  },
  error: (type, message) => ({ type: "error", error: { type, message } }),
};
