import type { ReportedLimit, UsageLimitStatus } from "@flint/protocol";
import type { Failure } from "./failures.ts";

/** From this share on a limit is worth reporting; most endpoints send their limits with every response. */
const NEARLY_USED = 90;

/** Units that providers count in the headers of their limits. */
const COUNTED = ["requests", "tokens", "input-tokens", "output-tokens"];

/** The limits of an endpoint that are used up or nearly so, by the headers of a response. */
export function limitsInHeaders(headers: Headers, account: string, now: number): readonly ReportedLimit[] {
  return COUNTED.flatMap((what) => {
    const anthropic = (field: string) => headers.get(`anthropic-ratelimit-${what}-${field}`);
    const openAi = (field: string) => headers.get(`x-ratelimit-${field}-${what}`);
    return limitOf(what, account, anthropic, now) ?? limitOf(what, account, openAi, now) ?? [];
  });
}

/** The limits behind a rejected request: those of its headers, and the delay that the endpoint asks for. */
export function limitsOfRejection(
  failure: Failure,
  headers: Headers | undefined,
  account: string,
  now: number,
): readonly ReportedLimit[] {
  const { error, isTransient, retryAfterMs } = failure;
  if (error.errorInfo !== "UsageLimitExceeded") return [];
  if (!isTransient)
    return [{ account, window: "credits", status: "reached", source: "frame", needsUser: true }];
  const counted = headers === undefined ? [] : limitsInHeaders(headers, account, now);
  if (retryAfterMs === undefined) return counted;
  const resetsAtMs = now + retryAfterMs;
  return [...counted, { account, window: "rate limit", status: "reached", resetsAtMs, source: "header" }];
}

function limitOf(
  what: string,
  account: string,
  field: (name: string) => string | null,
  now: number,
): ReportedLimit | undefined {
  const [limit, remaining] = [numberIn(field("limit")), numberIn(field("remaining"))];
  if (limit === undefined || remaining === undefined || limit <= 0) return undefined;
  const usedPercent = Math.min(100, Math.max(0, (1 - remaining / limit) * 100));
  if (usedPercent < NEARLY_USED) return undefined;
  const resetsAtMs = resetIn(field("reset"), now);
  const status: UsageLimitStatus = remaining <= 0 ? "reached" : "warning";
  const reset = resetsAtMs === undefined ? {} : { resetsAtMs };
  return { account, window: what.replace("-", " "), usedPercent, ...reset, status, source: "header" };
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A date, or a duration such as "6m0s" or "20ms". */
function resetIn(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  if (/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
    return now + parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}

function numberIn(text: string | null): number | undefined {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
