import { LABEL } from "@flint/protocol";
import { UsageError } from "../../command-line/command.ts";

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const DATE_AND_TIME = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * The time that `--at` and the key `at` mean, in unix milliseconds: the next 22:00 in the time zone of this machine, or
 * a date and time, such as 2026-11-20 22:00.
 */
export function startTimeOf(text: unknown, now: number, where = "--at"): number {
  const given = String(text).trim();
  const [, hours, minutes] = TIME.exec(given) ?? [];
  if (hours !== undefined && minutes !== undefined) {
    const next = new Date(now);
    next.setHours(Number(hours), Number(minutes), 0, 0);
    if (next.getTime() <= now) next.setDate(next.getDate() + 1);
    return next.getTime();
  }
  const time = DATE_AND_TIME.test(given) ? Date.parse(given.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(`${where}: ${given} is not a time. Write it as 22:00 or 2026-11-20 22:00.`);
  if (time <= now) throw new UsageError(`${where}: ${given} is in the past.`);
  return time;
}

/** A label of a task or a worker, as it was given. */
export function labelOf(text: string): string {
  if (LABEL.test(text)) return text;
  throw new UsageError(
    `--label ${text}: a label has letters, digits and . : = / - _, such as gpu or zone=eu.`,
  );
}
