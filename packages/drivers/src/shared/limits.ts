import type { UsageLimitStatus } from "@flint/protocol";

/** Above this, clients should warn. */
const WARNING_PERCENT = 90;

/** The name of the window of a limit, the same for every agent: "5 hours", "7 days". */
export function windowName(minutes: number): string {
  const [count, unit] =
    minutes % 1440 === 0
      ? [minutes / 1440, "day"]
      : minutes % 60 === 0
        ? [minutes / 60, "hour"]
        : [minutes, "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A time as agents report it, in unix seconds or milliseconds, as unix milliseconds. */
export function unixMilliseconds(time: unknown): number | undefined {
  if (typeof time !== "number" || !Number.isFinite(time) || time <= 0) return undefined;
  return time > 100_000_000_000 ? time : time * 1000;
}

/** How close to a limit so many percent are. */
export function statusAt(usedPercent: number): UsageLimitStatus {
  if (usedPercent >= 100) return "reached";
  return usedPercent >= WARNING_PERCENT ? "warning" : "ok";
}
