import type { LimitPolicy, QuietHours, UsageLimit } from "@flint/protocol";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Times for which a task pauses after the first, second, … transient failure. */
const BACKOFFS_MS = [1, 5, 15, 60, 60].map((minutes) => minutes * MINUTE);

/** The end of the pause after this many failures in a row; undefined if there were too many. */
export function backoffUntil(failures: number, now: number, random: number): number | undefined {
  const pause = BACKOFFS_MS[failures];
  return pause === undefined ? undefined : now + pause + Math.round(random * 0.2 * pause);
}

/** A little after the reset, each task at another time, so that not all of them come back at once. */
const AFTER_RESET_MS = 30 * SECOND;
const JITTER_MS = 90 * SECOND;
/** Reset times in the past are known to be reported; asking again at once would only repeat the failure. */
const LEAST_WAIT_MS = MINUTE;

/** The time at which a task that hit a usage limit resumes, or the reason it needs the user. */
export type Resumption = { readonly untilMs: number } | { readonly ask: string };

/**
 * Returns the time of the next attempt after a usage limit. `repeats` is how often the same limit was met in
 * a row: reset times may be wrong.
 */
export function resumption(
  limit: UsageLimit,
  policy: LimitPolicy,
  context: { readonly now: number; readonly random: number; readonly repeats: number },
): Resumption {
  const { now, random, repeats } = context;
  if (policy.resume === "ask") return { ask: "Continue after the reset?" };
  if (limit.needsUser === true)
    return { ask: "Waiting does not help: the account needs more credit or another plan." };
  if (limit.resetsAtMs === undefined) return { ask: "The agent did not report when the limit resets." };
  const repeated = BACKOFFS_MS[Math.min(repeats, BACKOFFS_MS.length) - 1] ?? 0;
  const earliest = Math.max(limit.resetsAtMs + AFTER_RESET_MS, now + LEAST_WAIT_MS, now + repeated);
  const untilMs = afterQuietHours(Math.round(earliest + random * JITTER_MS), policy.quietHours);
  if (untilMs - now > policy.maxWaitSeconds * SECOND)
    return {
      ask: `The limit resets at ${new Date(limit.resetsAtMs).toISOString()}, which is beyond the maximum wait.`,
    };
  return { untilMs };
}

/** The same time, or the end of the quiet hours that it falls into. */
export function afterQuietHours(at: number, quiet: QuietHours | undefined): number {
  if (quiet === undefined) return at;
  const day = new Date(at);
  const minute = day.getHours() * 60 + day.getMinutes();
  const [from, to] = [minuteOfDay(quiet.from), minuteOfDay(quiet.to)];
  const inside = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!inside) return at;
  const end = new Date(at);
  end.setHours(Math.floor(to / 60), to % 60, 0, 0);
  return end.getTime() > at ? end.getTime() : end.getTime() + DAY;
}

function minuteOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * 60 + minutes;
}
