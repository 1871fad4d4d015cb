import type { TurnError, TurnErrorInfo } from "@flint/protocol";
import { cleanText, displayUrl, redact } from "./clean-text.ts";
import {
  type ErrorDetails,
  errorDetails,
  mismatchedField,
  type Problem,
  parseErrorBody,
  retryAfter,
} from "./problem.ts";

/** The endpoint of a request, as it is described to users. */
export interface EndpointInfo {
  /** Such as "Anthropic". */
  readonly label: string;
  readonly baseUrl: string;
  /** The model as the endpoint knows it. */
  readonly model: string;
  /** Advice for when the endpoint rejects the key. */
  readonly authHint: string;
  /** Advice for when nothing answers at the URL. */
  readonly connectHint: string;
  /** Strings that must never be shown. */
  readonly secrets: readonly string[];
}

/** A problem as a turn error, and whether the same request may work a moment later. */
export interface Failure {
  readonly error: TurnError;
  readonly isTransient: boolean;
  /** The delay that the endpoint asks for. */
  readonly retryAfterMs?: number | undefined;
}

interface Description {
  readonly info: TurnErrorInfo;
  readonly text: string;
  readonly isTransient?: boolean;
  readonly status?: number;
  readonly details?: string | undefined;
}

const TRANSIENT_STATUS = new Set([408, 429, 500, 502, 503, 504, 529]);

const MAX_DETAILS = 500;

/** Describes a problem. Never includes a key, however the endpoint repeats it. */
export function describeProblem(
  problem: Problem,
  endpoint: EndpointInfo,
  excerpt: string,
  now: number,
): Failure {
  const { info, text, status, details, isTransient = false } = describe(problem, endpoint, excerpt);
  const show = (shown: string) => redact(cleanText(shown), endpoint.secrets);
  const error: TurnError = {
    message: show(text),
    errorInfo: info,
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(details === undefined || details === ""
      ? {}
      : { additionalDetails: show(details).slice(0, MAX_DETAILS) }),
  };
  return {
    error,
    isTransient,
    retryAfterMs: problem.kind === "status" ? retryAfter(problem.headers, now) : undefined,
  };
}

function describe(problem: Problem, endpoint: EndpointInfo, excerpt: string): Description {
  const name = `${endpoint.label} at ${displayUrl(endpoint.baseUrl)}`;
  switch (problem.kind) {
    case "status":
      return statusError(problem, parseErrorBody(problem.body), endpoint);
    case "redirect":
      return {
        info: "BadRequest",
        status: problem.status,
        text: `${name} redirects to ${displayUrl(problem.location)}. Set that as its URL if you trust it; Flint does not send a key to another URL.`,
      };
    case "unreachable":
      return {
        info: "InternalServerError",
        isTransient: true,
        text: `${name} cannot be reached: ${problem.reason}. ${endpoint.connectHint}`,
      };
    case "cut":
      return cutOff(endpoint, name, excerpt);
    case "silent":
      return {
        info: "InternalServerError",
        text: `${name} has been silent for ${Math.round(problem.milliseconds / 1000)} seconds. Try again, or choose another model.`,
      };
    case "flood":
      return { info: "Other", text: `${name} was stopped: it sent ${problem.what} in one response.` };
    case "empty":
      return { info: "InternalServerError", isTransient: true, text: `${name} returned an empty response.` };
    case "stream":
      return streamError(
        errorDetails(problem.thrown),
        endpoint,
        name,
        excerpt,
        mismatchedField(problem.thrown),
      );
    case "request":
      return {
        info: "BadRequest",
        text: `The request to ${name} could not be made: ${errorDetails(problem.thrown).message}`,
      };
  }
}

/** A line of an event stream. */
const EVENT_LINE = /^[\s\ufeff]*(?:data|event|id|retry)?:/;

function cutOff(endpoint: EndpointInfo, name: string, excerpt: string): Description {
  if (excerpt !== "" && !EVENT_LINE.test(excerpt))
    return streamError(parseErrorBody(excerpt), endpoint, name, excerpt);
  const text =
    excerpt === ""
      ? `${name} closed the connection without a response.`
      : `The response of ${name} was cut off. Send "continue".`;
  return { info: "InternalServerError", isTransient: true, text };
}

function statusError(
  { status, body }: Extract<Problem, { kind: "status" }>,
  details: ErrorDetails,
  endpoint: EndpointInfo,
): Description {
  const known = causeOf(details);
  const error = (info: TurnErrorInfo, what: string, hint = ""): Description => ({
    info,
    status,
    isTransient: TRANSIENT_STATUS.has(status) && known !== "quota" && known !== "context",
    text: `${endpoint.label} ${what} (HTTP ${status})${reason(details)}${hint === "" ? "" : ` ${hint}`}`,
    details: details.message === "" ? body : undefined,
  });
  if (known === "context" || status === 413) return error("ContextWindowExceeded", TOO_LONG);
  if (status === 401 || status === 403) return error("Unauthorized", keyError(endpoint), endpoint.authHint);
  if (known === "quota" || status === 402) return error("UsageLimitExceeded", OUT_OF_CREDIT);
  if (status === 404)
    return error(
      "BadRequest",
      `does not have the model ${endpoint.model}, or is not at ${displayUrl(endpoint.baseUrl)}`,
    );
  if (status === 429) return error("UsageLimitExceeded", "rate limited the request");
  if (status === 529) return error("InternalServerError", "is overloaded");
  if (status >= 500 || status === 408) return error("InternalServerError", "returned a server error");
  return error("BadRequest", "rejected the request");
}

function keyError({ secrets }: EndpointInfo): string {
  return secrets.length === 0 ? "requires a key" : "rejected the key";
}

const OUT_OF_CREDIT = "reports that the account is out of credit";
const TOO_LONG = "reports that the conversation is too long for the model";

function streamError(
  details: ErrorDetails,
  endpoint: EndpointInfo,
  name: string,
  excerpt: string,
  field?: string,
): Description {
  const text = (what: string, hint = "") =>
    `${endpoint.label} ${what}${reason(details)}${hint === "" ? "" : ` ${hint}`}`;
  switch (causeOf(details)) {
    case "context":
      return { info: "ContextWindowExceeded", text: text(TOO_LONG) };
    case "quota":
      return { info: "UsageLimitExceeded", text: text(OUT_OF_CREDIT) };
    case "key":
      return { info: "Unauthorized", text: text(keyError(endpoint), endpoint.authHint) };
    case "rate":
      return {
        info: "UsageLimitExceeded",
        isTransient: true,
        status: 429,
        text: text("rate limited the request"),
      };
    case "overload":
      return { info: "InternalServerError", isTransient: true, status: 529, text: text("is overloaded") };
    case "server":
      return { info: "InternalServerError", isTransient: true, text: text("returned a server error") };
    case "request":
      return { info: "BadRequest", text: text("rejected the request") };
    case undefined: {
      const found = excerpt === "" ? details.message : excerpt;
      if (field !== undefined) {
        const unfit = `${name} sent a response that does not fit its API: ${field}.`;
        return { info: "InternalServerError", text: unfit, details: found };
      }
      const what = `${name} sent something that is not a model response. Check its URL; many end in /v1.`;
      return { info: "InternalServerError", text: what, details: found };
    }
  }
}

type Cause = "context" | "quota" | "key" | "rate" | "overload" | "server" | "request";

const CAUSES: Readonly<Record<string, Cause>> = {
  context_length_exceeded: "context",
  exceed_context_size_error: "context",
  request_too_large: "context",
  insufficient_quota: "quota",
  billing_error: "quota",
  billing_hard_limit_reached: "quota",
  authentication_error: "key",
  permission_error: "key",
  invalid_api_key: "key",
  rate_limit_error: "rate",
  rate_limit_exceeded: "rate",
  overloaded_error: "overload",
  server_is_overloaded: "overload",
  slow_down: "overload",
  api_error: "server",
  server_error: "server",
  internal_server_error: "server",
  timeout_error: "server",
  invalid_request_error: "request",
  invalid_prompt: "request",
  not_found_error: "request",
};

/**
 * Anthropic, vLLM, llama.cpp and others have no error code for a prompt that is too long, so it is recognized by the
 * message (as of 2026-11).
 */
const TOO_LONG_MESSAGE =
  /prompt is too long|maximum context length|context (?:window|length|size).{0,40}(?:exceed|too)|exceeds? .{0,60}context|input is too long|too many tokens/i;

function causeOf({ codes, message }: ErrorDetails): Cause | undefined {
  if (TOO_LONG_MESSAGE.test(message)) return "context";
  const causes = codes.flatMap((code) => (Object.hasOwn(CAUSES, code) ? (CAUSES[code] ?? []) : []));
  return causes.find((cause) => cause !== "request") ?? causes[0];
}

function reason({ message }: ErrorDetails): string {
  if (message === "") return ".";
  return /[.!?]$/.test(message) ? `: ${message}` : `: ${message}.`;
}
