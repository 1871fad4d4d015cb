import type { DriverEvent } from "@flint/core/ports";
import type { ClaudeFrameOf } from "@flint/protocol/claude";
import { stringField } from "../../shared/json.ts";
import { CLAUDE } from "../descriptor.ts";
import { hookEnded, hookStarted } from "./hooks.ts";
import { LOGIN_MESSAGE } from "./result.ts";
import { newItemId, type Step, type TranslateState } from "./state.ts";

type SystemFrame = ClaudeFrameOf<"system">;

/** The size of one extension event; Claude's own log has what is larger. */
const EXTENSION_CHARACTERS = 16_384;

/** Subtypes that are not about the work: heartbeats, token counts, and answers to the driver's own requests. */
const IGNORED: ReadonlySet<string> = new Set([
  ...["init", "status", "thinking_tokens", "session_state_changed", "commands_changed"],
  ...["hook_progress", "task_progress", "control_request_progress"],
]);

/** A frame about Claude itself. */
export function systemStep(state: TranslateState, frame: SystemFrame): Step {
  switch (frame.subtype) {
    case "api_retry":
      return [state, [retryEvent(frame)]];
    case "compact_boundary":
      return compacted(state);
    case "auth_required":
      return [state, [loginEvent(frame)]];
    case "hook_started":
      return hookStarted(state, frame);
    case "hook_response":
      return hookEnded(state, frame);
    default:
      return [state, IGNORED.has(frame.subtype) ? [] : [extension(frame.subtype, frame)]];
  }
}

/** Something that only Claude has, within bounds. */
export function extension(name: string, fields: Readonly<Record<string, unknown>>): DriverEvent {
  const { type: _type, uuid: _uuid, session_id: _session, ...params } = fields;
  const size = JSON.stringify(params).length;
  const bounded = size <= EXTENSION_CHARACTERS ? params : { omittedCharacters: size };
  return { type: "extension", method: `${CLAUDE.provider}/${name}`, params: bounded };
}

function retryEvent(frame: SystemFrame): DriverEvent {
  const { error_status: status, attempt, max_retries: maxRetries, error } = frame;
  const count =
    typeof attempt === "number" && typeof maxRetries === "number"
      ? ` (attempt ${attempt} of ${maxRetries})`
      : "";
  const reason = typeof error === "string" ? `: ${error}` : "";
  const code = typeof status === "number" ? { httpStatusCode: status } : {};
  const message = `The model could not be reached${reason}. Claude tries again${count}.`;
  return { type: "error", error: { message, errorInfo: "InternalServerError", ...code }, willRetry: true };
}

function compacted(state: TranslateState): Step {
  const [next, id] = newItemId(state);
  const item = { type: "contextCompaction", id } as const;
  return [
    next,
    [
      { type: "item/started", item },
      { type: "item/completed", item },
    ],
  ];
}

function loginEvent(frame: SystemFrame): DriverEvent {
  const details = ["content", "message", "url"]
    .map((name) => stringField(frame, name))
    .find((text) => text !== undefined);
  const more = details === undefined ? {} : { additionalDetails: details };
  return {
    type: "error",
    error: { message: LOGIN_MESSAGE, errorInfo: "Unauthorized", ...more },
    willRetry: false,
  };
}
