import { type Budget, FlintError, type ThreadSettings, type TurnError } from "@flint/protocol";
import type { Driver, ReportTime, UsageReports } from "../ports/index.ts";
import { nameOf } from "./limits.ts";

/** The units of limits that depend on what an agent reports. */
type ReportedUnit = keyof UsageReports;

/** A limit and when the agent reports what it counts. */
export interface ReportedLimit {
  /** As the configuration names it. */
  readonly name: string;
  readonly unit: ReportedUnit;
  readonly reported: ReportTime;
}

const REPORTED_UNITS: readonly ReportedUnit[] = ["tokens", "costUsd", "steps"];

/** What a driver reports that does not say otherwise. */
const EVERY_CALL: UsageReports = { tokens: "call", steps: "call", costUsd: "free" };

/** The limits of a budget that an agent does not report with each call. */
export function limitsCheckedAfterTurn(budget: Budget | undefined, reports: UsageReports): ReportedLimit[] {
  return (["turn", "thread"] as const).flatMap((scope) =>
    REPORTED_UNITS.flatMap((unit) => {
      const limits: Partial<Record<ReportedUnit, number | undefined>> = budget?.[scope] ?? {};
      const reported = reports[unit];
      if (limits[unit] === undefined || reported === "call" || reported === "free") return [];
      return [{ name: nameOf({ scope, unit }), unit, reported }];
    }),
  );
}

/** What to know about the limits of a turn before it starts. */
export interface CheckedLimits {
  /** One for each limit that is checked late or not at all. */
  readonly notices: readonly string[];
  /** Whether a model call without a cost ends the turn, because a limit of the cost has to hold. */
  readonly requiresCost: boolean;
}

/** Checks the limits of a budget. Throws `invalidParams` for one that the agent never reports enough to keep. */
export async function checkLimits(
  { budget, model }: Pick<ThreadSettings, "budget" | "model">,
  driver: Driver,
): Promise<CheckedLimits> {
  if (budget?.turn === undefined && budget?.thread === undefined) return { notices: [], requiresCost: false };
  const reports = (await driver.usageReports?.(model)) ?? EVERY_CALL;
  const isStrict = budget.enforcement !== "bestEffort";
  const late = limitsCheckedAfterTurn(budget, reports);
  const [unknown] = late.filter(({ reported }) => reported === "never");
  if (unknown !== undefined && isStrict) throw unknownLimit(unknown, model);
  const notices = late.map(({ name, unit, reported }) =>
    reported === "never"
      ? `${name} does not apply: ${model} does not report ${NOUNS[unit]}.`
      : `${name} is checked when a turn has ended: only then ${model} reports ${NOUNS[unit]}.`,
  );
  return { notices, requiresCost: isStrict && reports.costUsd === "call" };
}

/** The error of a turn with a model call whose cost is not known. */
export function unknownCost(model: string): TurnError {
  const message = `The turn was stopped: the cost of a call of ${model} is not known, so the limit of its cost cannot be kept. ${limitHint("costUsd", model)}`;
  return { message, errorInfo: "BudgetExceeded" };
}

const NOUNS: Readonly<Record<ReportedUnit, string>> = {
  tokens: "the tokens that it uses",
  costUsd: "its cost",
  steps: "its model calls",
};

function unknownLimit({ name, unit }: ReportedLimit, model: string): FlintError {
  const message = `${name} cannot be kept: ${model} does not report ${NOUNS[unit]}. ${limitHint(unit, model)}`;
  return new FlintError("invalidParams", message, { field: "budget", limit: name, model });
}

function limitHint(unit: ReportedUnit, model: string): string {
  const first =
    unit === "costUsd"
      ? `Configure its price ([models.${JSON.stringify(model)}] with price_input and price_output), remove`
      : "Remove";
  return `${first} the limit, limit the time instead, or run without a guarantee (--limits best-effort, budget.enforcement).`;
}
