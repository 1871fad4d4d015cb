import type { TurnError, TurnErrorInfo } from "@flint/protocol";
import { cleanText, displayUrl, redact } from "./clean-text.ts";
import { type ErrorDetails, errorDetails, parseErrorBody } from "./error-body.ts";
import { type Problem, retryAfter } from "./problem.ts";

/** Whom a request goes to, in the words that people are told. */
export interface EndpointInfo {
  /** Such as "Anthropic". */
  readonly label: string;
  readonly baseUrl: string;
  /** The model as the endpoint knows it. */
  readonly model: string;
  /** What to do when the endpoint lets nobody in. */
  readonly authHint: string;
  /** What to do when there is nothing at the address. */
  readonly connectHint: string;
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

/** A problem in words, and whether the same request may work a moment later. */
export interface Failure {
  readonly error: TurnError;
  readonly isTransient: boolean;
  /** How long the endpoint asks to wait. */
  readonly retryAfterMs?: number | undefined;
}

interface Words {
  readonly info: TurnErrorInfo;
  readonly text: string;
  readonly isTransient?: boolean;
  readonly status?: number;
  readonly details?: string | undefined;
}

const PASSING_STATUS = new Set([408, 429, 500, 502, 503, 504, 529]);

const DETAIL_CHARACTERS = 500;

/** Puts a problem into words. Never holds a key, however the endpoint repeats it. */
export function describeProblem(
  problem: Problem,
  endpoint: EndpointInfo,
  excerpt: string,
  now: number,
): Failure {
  const { info, text, status, details, isTransient = false } = wordsFor(problem, endpoint, excerpt);
  const show = (shown: string) => redact(cleanText(shown), endpoint.secrets);
  const error: TurnError = {
    message: show(text),
    errorInfo: info,
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(details === undefined || details === ""
      ? {}
      : { additionalDetails: show(details).slice(0, DETAIL_CHARACTERS) }),
  };
  return {
    error,
    isTransient,
    retryAfterMs: problem.kind === "status" ? retryAfter(problem.headers, now) : undefined,
  };
}

function wordsFor(problem: Problem, endpoint: EndpointInfo, excerpt: string): Words {
  const name = `${endpoint.label} at ${displayUrl(endpoint.baseUrl)}`;
  switch (problem.kind) {
    case "status":
      return refusal(problem, parseErrorBody(problem.body), endpoint);
    case "redirect":
      return {
        info: "BadRequest",
        status: problem.status,
        text: `${name} sends requests on to ${displayUrl(problem.location)}. Set that as its address if you trust it; Flint takes no key to another address by itself.`,
      };
    case "unreachable":
      return {
        info: "InternalServerError",
        isTransient: true,
        text: `${name} cannot be reached: ${problem.reason}. ${endpoint.connectHint}`,
      };
    case "cut":
      return brokenOff(endpoint, name, excerpt);
    case "silent":
      return {
        info: "InternalServerError",
        text: `${name} has sent nothing for ${Math.round(problem.milliseconds / 1000)} seconds. Try again, or choose another model.`,
      };
    case "flood":
      return { info: "Other", text: `${name} was stopped: it sent ${problem.what} in one step.` };
    case "empty":
      return { info: "InternalServerError", isTransient: true, text: `${name} gave an empty answer.` };
    case "stream":
      return streamError(errorDetails(problem.thrown), endpoint, name, excerpt);
    case "request":
      return {
        info: "BadRequest",
        text: `The request to ${name} could not be made: ${errorDetails(problem.thrown).message}`,
      };
  }
}

/** A line of an event stream; anything else was never meant to be one. */
const EVENT_LINE = /^[\s\ufeff]*(?:data|event|id|retry)?:/;

function brokenOff(endpoint: EndpointInfo, name: string, excerpt: string): Words {
  if (excerpt !== "" && !EVENT_LINE.test(excerpt))
    return streamError(parseErrorBody(excerpt), endpoint, name, excerpt);
  const text =
    excerpt === ""
      ? `${name} closed the connection without an answer.`
      : `The answer of ${name} broke off before it was complete. Say "go on" to ask again.`;
  return { info: "InternalServerError", isTransient: true, text };
}

function refusal(
  { status, body }: Extract<Problem, { kind: "status" }>,
  said: ErrorDetails,
  endpoint: EndpointInfo,
): Words {
  const known = causeOf(said);
  const words = (info: TurnErrorInfo, what: string, way = ""): Words => ({
    info,
    status,
    isTransient: PASSING_STATUS.has(status) && known !== "quota" && known !== "context",
    text: `${endpoint.label} ${what} (HTTP ${status})${reason(said)}${way === "" ? "" : ` ${way}`}`,
    details: said.message === "" ? body : undefined,
  });
  if (known === "context" || status === 413) return words("ContextWindowExceeded", TOO_LONG);
  if (status === 401 || status === 403) return words("Unauthorized", noEntry(endpoint), endpoint.authHint);
  if (known === "quota" || status === 402)
    return words("UsageLimitExceeded", "says that the account has nothing left to spend");
  if (status === 404)
    return words(
      "BadRequest",
      `does not have the model ${endpoint.model}, or is not at ${displayUrl(endpoint.baseUrl)}`,
    );
  if (status === 429) return words("UsageLimitExceeded", "gets too many requests");
  if (status === 529) return words("InternalServerError", "is overloaded");
  if (status >= 500 || status === 408) return words("InternalServerError", "has a problem of its own");
  return words("BadRequest", "refused the request");
}

function noEntry({ secrets }: EndpointInfo): string {
  return secrets.length === 0 ? "lets nobody in without a key" : "lets nobody in with this key";
}

const TOO_LONG = "says that the conversation is too long for the model";

function streamError(said: ErrorDetails, endpoint: EndpointInfo, name: string, excerpt: string): Words {
  const text = (what: string, way = "") =>
    `${endpoint.label} ${what}${reason(said)}${way === "" ? "" : ` ${way}`}`;
  switch (causeOf(said)) {
    case "context":
      return { info: "ContextWindowExceeded", text: text(TOO_LONG) };
    case "quota":
      return { info: "UsageLimitExceeded", text: text("says that the account has nothing left to spend") };
    case "key":
      return { info: "Unauthorized", text: text(noEntry(endpoint), endpoint.authHint) };
    case "rate":
      return {
        info: "UsageLimitExceeded",
        isTransient: true,
        status: 429,
        text: text("gets too many requests"),
      };
    case "overload":
      return { info: "InternalServerError", isTransient: true, status: 529, text: text("is overloaded") };
    case "server":
      return { info: "InternalServerError", isTransient: true, text: text("has a problem of its own") };
    case "request":
      return { info: "BadRequest", text: text("refused the request") };
    case undefined: {
      const what = `${name} sent something that is no answer of a model. Check its address; many end in /v1.`;
      return { info: "InternalServerError", text: what, details: excerpt === "" ? said.message : excerpt };
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
 * Anthropic, vLLM, llama.cpp and others give a prompt that is too long no code of its own, so that only the words are
 * left to tell it by (as of 2026-11).
 */
const TOO_LONG_WORDS =
  /prompt is too long|maximum context length|context (?:window|length|size).{0,40}(?:exceed|too)|exceeds? .{0,60}context|input is too long|too many tokens/i;

function causeOf({ codes, message }: ErrorDetails): Cause | undefined {
  if (TOO_LONG_WORDS.test(message)) return "context";
  const causes = codes.flatMap((code) => (Object.hasOwn(CAUSES, code) ? (CAUSES[code] ?? []) : []));
  return causes.find((cause) => cause !== "request") ?? causes[0];
}

function reason({ message }: ErrorDetails): string {
  if (message === "") return ".";
  return /[.!?]$/.test(message) ? `: ${message}` : `: ${message}.`;
}
