import { isRecord } from "@flint/protocol";

/** A problem of one model call, before it is described for users. */
export type Problem =
  /** The endpoint returned an error status. */
  | { readonly kind: "status"; readonly status: number; readonly headers: Headers; readonly body: string }
  /** The endpoint redirects; a key is never sent there. */
  | { readonly kind: "redirect"; readonly status: number; readonly location: string }
  /** There was no connection, or it broke before any response. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** The stream ended before the response did. */
  | { readonly kind: "cut" }
  /** Nothing arrived for too long. */
  | { readonly kind: "silent"; readonly milliseconds: number }
  /** More arrived than any response needs. */
  | { readonly kind: "flood"; readonly what: string }
  /** The stream reported an error, or was not a stream of this kind. */
  | { readonly kind: "stream"; readonly thrown: unknown }
  /** The model stopped without text and without tool calls. */
  | { readonly kind: "empty" }
  /** The request could not be made. */
  | { readonly kind: "request"; readonly thrown: unknown };

/** Carries a problem to where it is described. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.kind);
    this.problem = problem;
  }
}

/** Number of attempts of a request, and the delays between them. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** An endpoint that asks for a longer delay gets no further request. */
  readonly maxDelayMs: number;
}

export const RETRY_POLICY: RetryPolicy = { attempts: 5, firstDelayMs: 1000, maxDelayMs: 60_000 };

/** The delay before the next attempt: what the endpoint asks for, else twice the delay before. */
export function retryDelay(next: number, retryAfterMs: number | undefined, policy: RetryPolicy): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return Math.min(policy.firstDelayMs * 2 ** (next - 2), policy.maxDelayMs);
}

/** The delay in milliseconds that an endpoint asks for, if it does. */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const text = headers.get("retry-after");
  if (text === null || text.trim() === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Details of an error as an endpoint reports them, in any format. */
export interface ErrorDetails {
  readonly message: string;
  /** Every `code` and `type` in it. */
  readonly codes: readonly string[];
  /** The parameter that it rejects. */
  readonly parameter?: string;
}

const MAX_MESSAGE = 500;

/** The fields in which error bodies of providers and errors of the SDK contain another error. */
const INNER = ["error", "data", "response", "responseBody", "detail"];
const MAX_DEPTH = 5;

/** Reads an error from the body of a response. */
export function parseErrorBody(body: string): ErrorDetails {
  const value = parsed(body);
  if (value !== undefined) return errorDetails(value);
  // An HTML page is of no use in a terminal.
  const isPage = /^\s*</.test(body);
  return { message: isPage ? "" : short(body), codes: [] };
}

/** Reads an error that a stream or the SDK reported. */
export function errorDetails(error: unknown): ErrorDetails {
  const found: { message: string; codes: string[]; parameter?: string } = { message: "", codes: [] };
  search(error, found, 0);
  return found;
}

function search(
  value: unknown,
  found: { message: string; codes: string[]; parameter?: string },
  depth: number,
): void {
  if (typeof value === "string") {
    const inner = depth === 0 ? undefined : parsed(value);
    if (isRecord(inner)) search(inner, found, depth);
    else if (inner === undefined) found.message = short(value);
    return;
  }
  if (!isRecord(value) || depth > MAX_DEPTH) return;
  // The innermost message is the endpoint's own; those around it are the SDK's.
  if (typeof value.message === "string" && value.message !== "") found.message = short(value.message);
  for (const code of [value.code, value.type]) if (typeof code === "string") found.codes.push(code);
  if (typeof value.param === "string") found.parameter = value.param;
  for (const key of INNER)
    if (value[key] !== undefined && value[key] !== null) search(value[key], found, depth + 1);
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  // Expected: text that only looks like JSON.
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function short(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)} …` : line;
}

/**
 * Returns the field of a response that did not fit, as the SDK reports it; undefined if it reports no field.
 */
export function mismatchedField(thrown: unknown, depth = 0): string | undefined {
  if (!isRecord(thrown) || depth > MAX_DEPTH) return undefined;
  const { issues, cause, error } = thrown;
  if (Array.isArray(issues)) return described(issues, []);
  return mismatchedField(cause, depth + 1) ?? mismatchedField(error, depth + 1);
}

/** The first problem. Of several possible shapes, that of the one that fits best. */
function described(issues: readonly unknown[], before: readonly unknown[]): string | undefined {
  const [issue] = issues;
  if (!isRecord(issue)) return undefined;
  const path = [...before, ...(Array.isArray(issue.path) ? issue.path : [])];
  const { errors, message } = issue;
  if (Array.isArray(errors)) {
    const shapes = errors.filter((each): each is unknown[] => Array.isArray(each));
    const near = shapes.filter((shape) => !shape.some(isAboutKind));
    const [best] = (near.length > 0 ? near : shapes).sort((one, other) => one.length - other.length);
    const inner = best === undefined ? undefined : described(best, path);
    if (inner !== undefined) return inner;
  }
  if (path.length === 0) return undefined;
  return `${path.map(String).join(".")}${typeof message === "string" ? ` (${message})` : ""}`;
}

/** Reports whether a shape is one of another kind of message. */
function isAboutKind(issue: unknown): boolean {
  return isRecord(issue) && Array.isArray(issue.path) && issue.path.length === 1 && issue.path[0] === "type";
}
