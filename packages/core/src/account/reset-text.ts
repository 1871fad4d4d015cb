/** Wordings that agents use for a usage limit; used only where they have no name for it. */
const LIMIT_REACHED =
  /(?:usage|rate|session|weekly) limit (?:is )?(?:reached|exceeded)|hit your (?:\w+ )?limit/i;

/** Reports whether a text says that a usage limit is reached. */
export function mentionsUsageLimit(text: string): boolean {
  return LIMIT_REACHED.test(text);
}

/** Unix seconds or milliseconds after a bar, as in "usage limit reached|1790494200". */
const STAMP = /limit reached\|(\d{10,13})\b/i;
const DURATION = /(?:try again|resets?|retry) in ((?:\d+ ?[a-z]+[\s,]*(?:and )?)+)/i;
const CLOCK_TIME =
  /(?:resets?|try again)(?: at| on)? (?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,?(?: at)? )?(\d{1,2})(?::(\d\d))? ?([ap]m)\b(?: \(([\w+/-]{1,60})\))?/i;

/**
 * Returns the reset time of a limit according to the text of an error, in unix milliseconds. A time of day
 * without a zone is in the zone of this machine, and is the next one.
 */
export function resetInText(text: string, now: number): number | undefined {
  const stamp = STAMP.exec(text)?.[1];
  if (stamp !== undefined) return stamp.length > 11 ? Number(stamp) : Number(stamp) * 1000;
  const duration = DURATION.exec(text)?.[1];
  if (duration !== undefined) return later(duration, now);
  const named = CLOCK_TIME.exec(text);
  return named === null ? undefined : atClockTime(named, now);
}

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

function later(duration: string, now: number): number | undefined {
  const parts = [...duration.matchAll(/(\d+) ?([a-z])/gi)];
  const total = parts.reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0),
    0,
  );
  return total === 0 ? undefined : now + total;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

function atClockTime(named: readonly (string | undefined)[], now: number): number | undefined {
  const [, month, day, year, hour, minute = "0", half = "", zone] = named;
  const offsetAt = offsetOf(zone);
  if (offsetAt === undefined) return undefined;
  const hours = (Number(hour) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  const today = new Date(now + offsetAt(now));
  const atTime = (years: number, months: number, days: number): number => {
    const localTime = Date.UTC(years, months, days, hours, Number(minute));
    // Twice, because the offset may change between now and then.
    const first = localTime - offsetAt(now);
    return localTime - offsetAt(first);
  };
  if (month !== undefined) {
    const index = MONTHS.indexOf(month.toLowerCase());
    if (index === -1) return undefined;
    const dated = atTime(Number(year ?? today.getUTCFullYear()), index, Number(day));
    const isOver = year === undefined && dated <= now;
    return isOver ? atTime(today.getUTCFullYear() + 1, index, Number(day)) : dated;
  }
  const next = (days: number) =>
    atTime(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + days);
  return next(0) > now ? next(0) : next(1);
}

/** Returns the offset of a zone from UTC at a moment, in milliseconds; undefined for a zone that does not exist. */
function offsetOf(zone: string | undefined): ((at: number) => number) | undefined {
  if (zone === undefined) return (at) => -new Date(at).getTimezoneOffset() * 60_000;
  // Expected: a name that is no zone.
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    return (at) => {
      const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
      const [, sign = "+", hours = "0", minutes = "0"] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
      return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
    };
  } catch {
    return undefined;
  }
}
