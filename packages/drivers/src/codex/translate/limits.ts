import type { ReportedLimit } from "@flint/protocol";
import type { CodexRateLimits, CodexResult } from "@flint/protocol/codex";
import { statusAt, unixMilliseconds, windowName } from "../../shared/translate.ts";

/** Codex's own name of the limit that all of its models share. */
const MAIN_LIMIT = "codex";

/**
 * Returns the limits of its account that Codex reports. Windows that a report leaves out are not in the
 * result.
 */
export function limitsOf(snapshot: CodexRateLimits): readonly ReportedLimit[] {
  const { limitId, limitName, primary, secondary, rateLimitReachedType: reason } = snapshot;
  const id = limitId ?? MAIN_LIMIT;
  const model = id === MAIN_LIMIT ? undefined : (limitName ?? id);
  const windows = [windowOf(primary, "primary"), windowOf(secondary, "secondary")].filter(
    (window) => window !== undefined,
  );
  const limits = reason == null ? windows : withReached(windows, reason);
  return model === undefined ? limits : limits.map((limit) => ({ ...limit, model }));
}

/** All limits in the answer of `account/rateLimits/read`. */
export function limitsIn(
  answer: CodexResult<"account/rateLimits/read"> | undefined,
): readonly ReportedLimit[] {
  if (answer === undefined) return [];
  const byId = Object.values(answer.rateLimitsByLimitId ?? {});
  return (byId.length > 0 ? byId : [answer.rateLimits]).flatMap(limitsOf);
}

/** The slots of windows have changed their meaning, so a window is named by its duration. */
function windowOf(window: CodexRateLimits["primary"], slot: string): ReportedLimit | undefined {
  if (window == null) return undefined;
  const { usedPercent, windowDurationMins: minutes, resetsAt } = window;
  const resetsAtMs = unixMilliseconds(resetsAt);
  const isTimed = typeof minutes === "number" && minutes > 0;
  return {
    window: isTimed ? windowName(minutes) : slot,
    ...(isTimed ? { windowMinutes: minutes } : {}),
    usedPercent,
    ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
    status: statusAt(usedPercent),
    source: "frame",
  };
}

/** Marks what was reached: the windows that are used up, else the fullest one, or the credit of a workspace. */
function withReached(windows: readonly ReportedLimit[], reason: string): readonly ReportedLimit[] {
  if (reason.endsWith("_credits_depleted"))
    return [...windows, { window: "credits", status: "reached", source: "frame", needsUser: true }];
  if (windows.some(({ status }) => status === "reached")) return windows;
  const fullest = Math.max(...windows.map(({ usedPercent = 0 }) => usedPercent));
  const marked = windows.map((window) =>
    window.usedPercent === fullest ? { ...window, status: "reached" as const } : window,
  );
  return marked.length > 0 ? marked : [{ window: "usage", status: "reached", source: "frame" }];
}
