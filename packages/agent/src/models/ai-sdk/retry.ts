/** How often a request is made and how long is waited in between. */
export interface RetryPolicy {
  readonly tries: number;
  readonly firstWaitMs: number;
  /** An endpoint that asks for a longer wait than this gets no further request. */
  readonly longestWaitMs: number;
}

export const RETRY_POLICY: RetryPolicy = { tries: 5, firstWaitMs: 1000, longestWaitMs: 60_000 };

/** How long to wait before the next try; each wait is twice the one before, unless the endpoint says. */
export function waitBefore(next: number, askedMs: number | undefined, policy: RetryPolicy): number {
  if (askedMs !== undefined) return askedMs;
  return Math.min(policy.firstWaitMs * 2 ** (next - 2), policy.longestWaitMs);
}

/** How long an endpoint asks to wait, if it does. */
export function askedWait(headers: Headers, now: number): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const text = headers.get("retry-after");
  if (text === null || text.trim() === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
