import { type ReportedLimit, stringOf, type UsageLimitStatus } from "@flint/protocol";
import { objectOf } from "../../shared/json.ts";
import { statusAt, unixMilliseconds } from "../../shared/translate.ts";

/** Claude's names for the windows of its limits. */
const WINDOWS: Readonly<Record<string, Pick<ReportedLimit, "window" | "windowMinutes" | "model">>> = {
  five_hour: { window: "5 hours", windowMinutes: 300 },
  seven_day: { window: "7 days", windowMinutes: 10_080 },
  seven_day_opus: { window: "7 days", windowMinutes: 10_080, model: "opus" },
  seven_day_sonnet: { window: "7 days", windowMinutes: 10_080, model: "sonnet" },
  overage: { window: "extra usage" },
};

const STATUS: Readonly<Record<string, UsageLimitStatus>> = {
  allowed: "ok",
  allowed_warning: "warning",
  rejected: "reached",
};

/** Claude's names for an account whose credit is used up or missing: time does not help, only the user does. */
const WITHOUT_CREDIT: ReadonlySet<string> = new Set(["credits_required", "out_of_credits", "billing_error"]);

/** The limit behind an error of a message, if it is one that only the user can lift. */
export function creditLimitOf(error: string | undefined): readonly ReportedLimit[] {
  if (!WITHOUT_CREDIT.has(error ?? "")) return [];
  return [{ window: "credits", status: "reached", source: "frame", needsUser: true }];
}

/** Returns the limits of its account that Claude reports, which it also does while requests are allowed. */
export function limitsOf(info: Readonly<Record<string, unknown>>): readonly ReportedLimit[] {
  const { rateLimitType, unifiedWindows, errorCode } = info;
  const name = stringOf(rateLimitType);
  const status = STATUS[stringOf(info.status) ?? ""];
  const others = Object.entries(objectOf(unifiedWindows))
    .filter(([other]) => other !== name)
    .map(([other, window]) => windowOf(other, objectOf(window), undefined));
  if (status === undefined || (name === undefined && status === "ok")) return others;
  const own = windowOf(name ?? "usage", info, status);
  return [...others, WITHOUT_CREDIT.has(stringOf(errorCode) ?? "") ? { ...own, needsUser: true } : own];
}

function windowOf(
  name: string,
  { utilization, resetsAt }: Readonly<Record<string, unknown>>,
  status: UsageLimitStatus | undefined,
): ReportedLimit {
  // A share of one; a larger number can only be percent.
  const used =
    typeof utilization === "number" ? (utilization <= 1 ? utilization * 100 : utilization) : undefined;
  const resetsAtMs = unixMilliseconds(resetsAt);
  return {
    ...(WINDOWS[name] ?? { window: name.replaceAll("_", " ") }),
    ...(used === undefined ? {} : { usedPercent: used }),
    ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
    status: status ?? statusAt(used ?? 0),
    source: "frame",
  };
}
