import type { UsageLimit } from "@flint/protocol";

/** The titles of the cells of a usage limit. */
export const LIMIT_COLUMNS = ["AGENT", "WINDOW", "USED", "RESETS"] as const;

/** A usage limit as cells of text, with the time left until it resets and the local time at which it does. */
export function limitCells(limit: UsageLimit, now: number): readonly string[] {
  return [nameOf(limit), limit.window, usedOf(limit), resetOf(limit, now)];
}

function nameOf({ agent, account, model }: UsageLimit): string {
  const details = [account, model].filter((part) => part !== undefined);
  return details.length === 0 ? agent : `${agent} (${details.join(", ")})`;
}

function usedOf({ usedPercent, status }: UsageLimit): string {
  const used = usedPercent === undefined ? "" : `${Math.round(usedPercent)} %`;
  if (status === "reached") return used === "" ? "reached" : `${used}, reached`;
  return used === "" ? (status === "warning" ? "nearly reached" : "not reached") : used;
}

function resetOf({ resetsAtMs, guessed, needsUser }: UsageLimit, now: number): string {
  const doubt = guessed === true ? ", guessed from the error" : "";
  if (needsUser === true) return "no automatic reset: check the account's credit or plan";
  if (resetsAtMs === undefined) return `unknown${doubt}`;
  return `in ${timeLeft(resetsAtMs - now)} (${localTime(resetsAtMs)}${doubt})`;
}

function timeLeft(milliseconds: number): string {
  const minutes = Math.max(1, Math.ceil(milliseconds / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

function localTime(at: number): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
