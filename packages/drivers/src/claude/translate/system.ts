import type { DriverEvent } from "@flint/core/ports";
import type { ClaudeFrameOf } from "@flint/protocol/claude";
import { textField } from "../fields.ts";
import { extension } from "./extension.ts";
import { SIGN_IN } from "./outcome.ts";
import { type Step, type TranslateState, takeItemId } from "./state.ts";

type SystemFrame = ClaudeFrameOf<"system">;

/** What says nothing about the work: beats, counts of tokens, and what the driver itself has asked for. */
const QUIET: ReadonlySet<string> = new Set([
  ...["init", "status", "thinking_tokens", "session_state_changed", "commands_changed"],
  ...["hook_started", "hook_progress", "task_progress", "control_request_progress"],
]);

/** A frame about Claude itself. */
export function systemStep(state: TranslateState, frame: SystemFrame): Step {
  switch (frame.subtype) {
    case "api_retry":
      return [state, [retryEvent(frame)]];
    case "compact_boundary":
      return compacted(state);
    case "auth_required":
      return [state, [signInEvent(frame)]];
    case "hook_response":
      return [state, [hookEvent(frame)]];
    default:
      return [state, QUIET.has(frame.subtype) ? [] : [extension(frame.subtype, frame)]];
  }
}

function retryEvent(frame: SystemFrame): DriverEvent {
  const { error_status: status, attempt, max_retries: most, error } = frame;
  const of =
    typeof attempt === "number" && typeof most === "number" ? ` (attempt ${attempt} of ${most})` : "";
  const said = typeof error === "string" ? `: ${error}` : "";
  const code = typeof status === "number" ? { httpStatusCode: status } : {};
  const message = `The model could not be reached${said}. Claude tries again${of}.`;
  return { type: "error", error: { message, errorInfo: "InternalServerError", ...code }, willRetry: true };
}

function compacted(state: TranslateState): Step {
  const [next, id] = takeItemId(state);
  const item = { type: "contextCompaction", id } as const;
  return [
    next,
    [
      { type: "item/started", item },
      { type: "item/completed", item },
    ],
  ];
}

function signInEvent(frame: SystemFrame): DriverEvent {
  const said = textField(frame, "message") ?? textField(frame, "url");
  const details = said === undefined ? {} : { additionalDetails: said };
  return {
    type: "error",
    error: { message: SIGN_IN, errorInfo: "Unauthorized", ...details },
    willRetry: false,
  };
}

function hookEvent({ hook_name: hookName, stdout, stderr, exit_code: exitCode }: SystemFrame): DriverEvent {
  return extension("hookResponse", { hookName, stdout, stderr, exitCode });
}
