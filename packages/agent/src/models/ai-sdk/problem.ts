/** What can go wrong in one model call, before it is described for people. */
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

/** How often a request is made, and the delays in between. */
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
