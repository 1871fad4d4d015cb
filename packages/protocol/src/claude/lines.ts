import type { ClaudePermission, ClaudeRequest } from "./control.ts";

/** A block of what the user says. */
export type ClaudeInputBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source: { readonly type: "base64"; readonly media_type: string; readonly data: string };
    };

/** What the user says, as a line. The id comes back when Claude takes it up; metadata goes along. */
export function userLine(
  content: readonly ClaudeInputBlock[],
  uuid: string,
  meta?: Readonly<Record<string, unknown>>,
): string {
  const message = { role: "user", content };
  const frame = { type: "user", message, parent_tool_use_id: null, uuid };
  return JSON.stringify(meta === undefined ? frame : { ...frame, _meta: meta });
}

/** A request to Claude, as a line. */
export function requestLine(requestId: string, request: ClaudeRequest): string {
  return JSON.stringify({ type: "control_request", request_id: requestId, request });
}

/** The answer to a question of Claude, as a line. */
export function answerLine(
  requestId: string,
  response: ClaudePermission | Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({
    type: "control_response",
    response: { subtype: "success", request_id: requestId, response },
  });
}

/** That a question of Claude cannot be answered, as a line. */
export function refusalLine(requestId: string, error: string): string {
  return JSON.stringify({
    type: "control_response",
    response: { subtype: "error", request_id: requestId, error },
  });
}
