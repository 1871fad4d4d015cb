import type { UsageLimit } from "@flint/protocol";
import type { CodexRateLimits } from "@flint/protocol/codex";

/** The limits of accounts in Codex's own shape: one bucket for each agent, and for each account and model of its own. */
export function bucketsOf(limits: readonly UsageLimit[]): readonly CodexRateLimits[] {
  const buckets = new Map<string, UsageLimit[]>();
  for (const limit of limits) {
    const id = bucketId(limit);
    buckets.set(id, [...(buckets.get(id) ?? []), limit]);
  }
  return [...buckets].map(([id, bucket]) => bucketOf(id, bucket));
}

/** Codex's own main limit has the name of the agent, too. */
function bucketId({ agent, account, model }: UsageLimit): string {
  return [agent, account, model].filter((part) => part !== undefined).join("/");
}

/** Clients show two windows; the shorter one comes first, as with Codex. */
function bucketOf(limitId: string, limits: readonly UsageLimit[]): CodexRateLimits {
  const windows = limits
    .filter(({ usedPercent, status }) => usedPercent !== undefined || status === "reached")
    .sort((left, right) => (left.windowMinutes ?? 0) - (right.windowMinutes ?? 0))
    .map(windowOf);
  const isReached = limits.some(({ status }) => status === "reached");
  return {
    limitId,
    limitName: limitId === "codex" ? null : limitId,
    normalModelSlug: null,
    primary: windows[0] ?? null,
    secondary: windows[1] ?? null,
    credits: null,
    individualLimit: null,
    spendControlReached: null,
    planType: null,
    rateLimitReachedType: isReached ? "rate_limit_reached" : null,
  };
}

function windowOf({ usedPercent = 100, windowMinutes, resetsAtMs }: UsageLimit) {
  return {
    usedPercent: Math.round(usedPercent),
    windowDurationMins: windowMinutes ?? null,
    resetsAt: resetsAtMs === undefined ? null : Math.floor(resetsAtMs / 1000),
  };
}
