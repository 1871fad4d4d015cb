/** What can go wrong in one step, before it is put into words. */
export type Problem =
  /** The endpoint said no. */
  | { readonly kind: "status"; readonly status: number; readonly headers: Headers; readonly body: string }
  /** The endpoint wants the request elsewhere; a key is never taken there. */
  | { readonly kind: "redirect"; readonly status: number; readonly location: string }
  /** No connection came about, or it broke before any answer. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** The stream ended before the answer did. */
  | { readonly kind: "cut" }
  /** Nothing came for too long. */
  | { readonly kind: "silent"; readonly milliseconds: number }
  /** More came than any answer needs. */
  | { readonly kind: "flood"; readonly what: string }
  /** The stream itself told of an error, or was no stream of this kind. */
  | { readonly kind: "stream"; readonly thrown: unknown }
  /** The model stopped without having said or wanted anything. */
  | { readonly kind: "empty" }
  /** The request could not even be made. */
  | { readonly kind: "request"; readonly thrown: unknown };

/** Carries a problem to where it is put into words. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.kind);
    this.problem = problem;
  }
}

/** How often a request is made and how long is waited in between. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** An endpoint that asks for a longer wait than this gets no further request. */
  readonly maxDelayMs: number;
}

export const RETRY_POLICY: RetryPolicy = { attempts: 5, firstDelayMs: 1000, maxDelayMs: 60_000 };

/** How long to wait before the next try; each wait is twice the one before, unless the endpoint says. */
export function retryDelay(next: number, retryAfterMs: number | undefined, policy: RetryPolicy): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return Math.min(policy.firstDelayMs * 2 ** (next - 2), policy.maxDelayMs);
}

/** How long an endpoint asks to wait, if it does. */
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
