import * as z from "zod/mini";
import { isRecord } from "../wire/loose-object.ts";
import { ClaudeAsk } from "./control.ts";

/** One block of a message: text, thinking, a tool use, a tool result, or of an unknown type. */
export const ClaudeBlock = z.looseObject({
  type: z.string(),
  text: z.optional(z.string()),
  thinking: z.optional(z.string()),
  /** Of a tool use. */
  id: z.optional(z.string()),
  name: z.optional(z.string()),
  input: z.optional(z.unknown()),
  /** Of a tool result. */
  tool_use_id: z.optional(z.string()),
  content: z.optional(z.unknown()),
  is_error: z.optional(z.nullable(z.boolean())),
});
export type ClaudeBlock = z.output<typeof ClaudeBlock>;

const count = z.optional(z.nullable(z.number()));

/** Tokens of one model call. The buckets do not overlap. */
export const ClaudeUsage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
export type ClaudeUsage = z.output<typeof ClaudeUsage>;

/** A message of the model or to it. */
export const ClaudeMessage = z.looseObject({
  id: z.optional(z.string()),
  model: z.optional(z.string()),
  content: z.union([z.string(), z.array(ClaudeBlock)]),
  usage: z.optional(z.nullable(ClaudeUsage)),
});
export type ClaudeMessage = z.output<typeof ClaudeMessage>;

/** The blocks of a message; one that is plain text is one block. */
export function blocksOf({ content }: ClaudeMessage): readonly ClaudeBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

const text = z.optional(z.nullable(z.string()));
/** The tool use that started the sub-agent which this is about; null or absent for the agent itself. */
const ofSubAgent = { parent_tool_use_id: text };
const session_id = z.optional(z.string());

const System = z.looseObject({
  type: z.literal("system"),
  subtype: z.string(),
  session_id,
  model: text,
  tools: z.optional(z.array(z.string())),
  permissionMode: text,
});
const StreamEvent = z.looseObject({
  type: z.literal("stream_event"),
  event: z.looseObject({
    type: z.string(),
    index: z.optional(z.number()),
    message: z.optional(z.looseObject({ id: z.optional(z.string()), model: z.optional(z.string()) })),
    content_block: z.optional(ClaudeBlock),
    delta: z.optional(
      z.looseObject({
        type: z.optional(z.string()),
        text: z.optional(z.string()),
        thinking: z.optional(z.string()),
        partial_json: z.optional(z.string()),
      }),
    ),
    usage: z.optional(z.nullable(ClaudeUsage)),
  }),
  ...ofSubAgent,
});
const Assistant = z.looseObject({
  type: z.literal("assistant"),
  message: ClaudeMessage,
  ...ofSubAgent,
  uuid: z.optional(z.string()),
  /** The kind of error that the message reports, if it reports one. */
  error: text,
  /** The message was cut off by an interrupt. */
  aborted: z.optional(z.boolean()),
});
const User = z.looseObject({
  type: z.literal("user"),
  message: ClaudeMessage,
  ...ofSubAgent,
  uuid: z.optional(z.string()),
  /** A message to Claude, sent back at the moment it is processed. */
  isReplay: z.optional(z.boolean()),
  /** The structured result of a tool, of any shape; the model gets only text. */
  tool_use_result: z.optional(z.unknown()),
});
const ModelUsage = z.looseObject({
  inputTokens: z.optional(z.number()),
  outputTokens: z.optional(z.number()),
  cacheReadInputTokens: z.optional(z.number()),
  cacheCreationInputTokens: z.optional(z.number()),
  contextWindow: z.optional(z.number()),
});
const Result = z.looseObject({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z._default(z.boolean(), false),
  result: text,
  /** The answer that fits the schema, where one was asked for. */
  structured_output: z.optional(z.unknown()),
  errors: z.optional(z.array(z.string())),
  terminal_reason: text,
  /** The reason the model stopped; `refusal` if it refused. */
  stop_reason: z.optional(z.nullable(z.string())),
  api_error_status: z.optional(z.nullable(z.number())),
  duration_ms: z.optional(z.number()),
  /** The number of model calls. */
  num_turns: z.optional(z.number()),
  session_id,
  /** Since the process was started. */
  total_cost_usd: z.optional(z.number()),
  /** By model, since the process was started. */
  modelUsage: z.optional(z.record(z.string(), ModelUsage)),
});
const RateLimitEvent = z.looseObject({
  type: z.literal("rate_limit_event"),
  rate_limit_info: z._default(z.record(z.string(), z.unknown()), {}),
});
const ControlRequest = z.looseObject({
  type: z.literal("control_request"),
  request_id: z.string(),
  request: z.union([ClaudeAsk, z.looseObject({ subtype: z.string() })]),
});
const ControlResponse = z.looseObject({
  type: z.literal("control_response"),
  response: z.looseObject({
    subtype: z.string(),
    request_id: z.string(),
    response: z.optional(z.unknown()),
    error: text,
  }),
});
const ControlCancel = z.looseObject({ type: z.literal("control_cancel_request"), request_id: z.string() });

/** Every kind of frame that Claude writes and Flint reads. */
const FRAMES = {
  system: System,
  stream_event: StreamEvent,
  assistant: Assistant,
  user: User,
  result: Result,
  rate_limit_event: RateLimitEvent,
  control_request: ControlRequest,
  control_response: ControlResponse,
  control_cancel_request: ControlCancel,
} as const;

type Frames = { [Type in keyof typeof FRAMES]: z.output<(typeof FRAMES)[Type]> };

/** The name of a kind of frame that is known. */
export type ClaudeFrameType = keyof Frames;
/** One kind of frame that Claude writes. */
export type ClaudeFrameOf<Type extends ClaudeFrameType> = Frames[Type];
/** A frame of a kind that Flint does not know; a newer Claude has them. */
export interface UnknownClaudeFrame {
  readonly type: "unknown";
  /** Its type. */
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}
/** Any frame that Claude writes. */
export type ClaudeFrame = Frames[ClaudeFrameType] | UnknownClaudeFrame;

/** A decoded line of Claude. */
export type DecodedFrame =
  | { readonly ok: true; readonly frame: ClaudeFrame }
  | { readonly ok: false; readonly reason: string };

/** Decodes one line of Claude. Never throws; a line that is not a frame is returned with the reason. */
export function decodeClaudeFrame(line: string): DecodedFrame {
  const fields = parsedObject(line);
  if (fields === undefined) return { ok: false, reason: "not a JSON object" };
  const { type: name } = fields;
  if (typeof name !== "string") return { ok: false, reason: "no type" };
  if (!isKnownType(name)) return { ok: true, frame: { type: "unknown", name, fields } };
  const parsed = FRAMES[name].safeParse(fields);
  if (parsed.success) return { ok: true, frame: parsed.data };
  return {
    ok: false,
    reason: `a ${name} frame with an unexpected shape: ${parsed.error.issues[0]?.path.join(".")}`,
  };
}

function isKnownType(name: string): name is ClaudeFrameType {
  return Object.hasOwn(FRAMES, name);
}

function parsedObject(line: string): Record<string, unknown> | undefined {
  // Expected: diagnostics of the agent, or half a line.
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
