import * as z from "zod/mini";

const record = z.record(z.string(), z.unknown());
const text = z.optional(z.nullable(z.string()));

/**
 * The control requests of Claude: permission to use a tool, a hook callback, an elicitation of an MCP server, and a
 * message to an MCP server that Flint itself is.
 */
export const ClaudeAsk = z.discriminatedUnion("subtype", [
  z.looseObject({
    subtype: z.literal("can_use_tool"),
    tool_name: z.string(),
    tool_use_id: z.string(),
    input: z._default(record, {}),
    description: text,
    decision_reason: text,
    decision_reason_type: text,
  }),
  z.looseObject({
    subtype: z.literal("hook_callback"),
    callback_id: z.string(),
    input: z.looseObject({
      hook_event_name: text,
      tool_name: text,
      tool_use_id: text,
      /** The result of the tool. */
      tool_response: z.optional(z.unknown()),
      /** The reason a tool failed: for a command, its exit code and output. */
      error: text,
    }),
  }),
  z.looseObject({
    subtype: z.literal("elicitation"),
    mcp_server_name: z.string(),
    message: text,
    mode: text,
    requested_schema: z.optional(z.unknown()),
    url: text,
  }),
  z.looseObject({
    subtype: z.literal("mcp_message"),
    server_name: z.string(),
    message: z.looseObject({
      method: z.string(),
      id: z.optional(z.unknown()),
      params: z.optional(z.unknown()),
    }),
  }),
]);
export type ClaudeAsk = z.output<typeof ClaudeAsk>;
export type ClaudeToolAsk = Extract<ClaudeAsk, { subtype: "can_use_tool" }>;
export type ClaudeMcpMessage = Extract<ClaudeAsk, { subtype: "mcp_message" }>;
export type ClaudeHookInput = Extract<ClaudeAsk, { subtype: "hook_callback" }>["input"];
export type ClaudeElicitation = Extract<ClaudeAsk, { subtype: "elicitation" }>;

/** The control requests of Flint. */
export type ClaudeRequest =
  | {
      readonly subtype: "initialize";
      /** The MCP servers that Flint itself is, by name. */
      readonly sdkMcpServers?: readonly string[];
      readonly hooks?: Readonly<Record<string, readonly ClaudeHookMatcher[]>>;
      /** The schema of the answer of every turn of this process. */
      readonly jsonSchema?: Readonly<Record<string, unknown>>;
    }
  | { readonly subtype: "interrupt" }
  | { readonly subtype: "set_model"; readonly model: string }
  | { readonly subtype: "set_permission_mode"; readonly mode: string }
  | { readonly subtype: "set_max_thinking_tokens"; readonly max_thinking_tokens: number | null }
  | { readonly subtype: "apply_flag_settings"; readonly settings: Readonly<Record<string, unknown>> }
  | { readonly subtype: "mcp_set_servers"; readonly servers: Readonly<Record<string, unknown>> }
  | { readonly subtype: "stop_task"; readonly task_id: string };

/** The tools that a hook is called for, and its callback ids. */
export interface ClaudeHookMatcher {
  /** Null is all tools. */
  readonly matcher: string | null;
  readonly hookCallbackIds: readonly string[];
  /** The time that a response may take, in seconds. */
  readonly timeout?: number;
}

/** The answer to `can_use_tool`. */
export type ClaudePermission =
  | { readonly behavior: "allow"; readonly updatedInput: Readonly<Record<string, unknown>> }
  | { readonly behavior: "deny"; readonly message: string; readonly interrupt: boolean };

/** A model that Claude offers. */
export const ClaudeModelInfo = z.looseObject({
  value: z.string(),
  displayName: z.optional(z.string()),
  description: z.optional(z.string()),
  resolvedModel: z.optional(z.string()),
  supportedEffortLevels: z.optional(z.array(z.string())),
});
export type ClaudeModelInfo = z.output<typeof ClaudeModelInfo>;

/** The answer to `initialize`. */
export const ClaudeInitializeResult = z.looseObject({
  models: z.optional(z.array(ClaudeModelInfo)),
  /** Its slash commands and skills. */
  commands: z.optional(z.array(z.looseObject({ name: z.string(), description: text, argumentHint: text }))),
  account: z.optional(
    z.nullable(z.looseObject({ email: text, subscriptionType: text, tokenSource: text, apiKeySource: text })),
  ),
});
export type ClaudeInitializeResult = z.output<typeof ClaudeInitializeResult>;

/** A block of a user message. */
export type ClaudeInputBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source: { readonly type: "base64"; readonly media_type: string; readonly data: string };
    };

/** Encodes a user message. Its `uuid` comes back when Claude starts on it. */
export function userLine(
  content: readonly ClaudeInputBlock[],
  uuid: string,
  meta?: Readonly<Record<string, unknown>>,
): string {
  const message = { role: "user", content };
  const frame = { type: "user", message, parent_tool_use_id: null, uuid };
  return JSON.stringify(meta === undefined ? frame : { ...frame, _meta: meta });
}

/** Encodes a control request to Claude. */
export function requestLine(requestId: string, request: ClaudeRequest): string {
  return JSON.stringify({ type: "control_request", request_id: requestId, request });
}

/** Encodes the response to a control request of Claude. */
export function responseLine(
  requestId: string,
  response: ClaudePermission | Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({
    type: "control_response",
    response: { subtype: "success", request_id: requestId, response },
  });
}

/** Encodes an error response to a control request of Claude. */
export function errorResponseLine(requestId: string, error: string): string {
  return JSON.stringify({
    type: "control_response",
    response: { subtype: "error", request_id: requestId, error },
  });
}
