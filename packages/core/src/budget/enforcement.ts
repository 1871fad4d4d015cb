import { type Budget, FlintError, type ThreadSettings, type TurnError } from "@flint/protocol";
import type { ReportTime, UsageReports } from "../ports/index.ts";
import { nameOf } from "./limits.ts";

/** The units of limits that depend on what an agent reports. */
export type ReportedUnit = "tokens" | "costUsd" | "steps";

/** A limit and when the agent reports what it counts. */
export interface ReportedLimit {
  /** As the configuration names it. */
  readonly name: string;
  readonly unit: ReportedUnit;
  readonly reported: ReportTime;
}

const REPORTED_UNITS: readonly ReportedUnit[] = ["tokens", "costUsd", "steps"];

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

/** Result of checking the limits of a turn before it starts. */
export interface CheckedLimits {
  /** One for each limit that is checked late or not at all. */
  readonly notices: readonly string[];
  /** True if a model call without a cost ends the turn, because a limit on the cost has to hold. */
  readonly requiresCost: boolean;
  /** The limits that have to hold, and that the agent reports when a turn ends; if it then does not, the turn fails. */
  readonly dueAtEnd: readonly ReportedLimit[];
  /** True if the limits have to hold. */
  readonly isStrict: boolean;
  /** True if a configured price makes the cost of the agent known. */
  readonly usesPrices?: boolean;
}

/** Knows what the agents of models report. */
export interface UsageReporting {
  usageReports(model: string): Promise<UsageReports>;
}

/** Checks the limits of a budget. Throws `invalidParams` for one that the agent never reports enough to keep. */
export async function checkLimits(
  { budget, model }: Pick<ThreadSettings, "budget" | "model">,
  reporting: UsageReporting,
): Promise<CheckedLimits> {
  const isStrict = budget?.enforcement !== "bestEffort";
  if (budget?.turn === undefined && budget?.thread === undefined)
    return { notices: [], requiresCost: false, dueAtEnd: [], isStrict };
  const reports = await reporting.usageReports(model);
  const late = limitsCheckedAfterTurn(budget, reports);
  const [unknown] = late.filter(({ reported }) => reported === "never");
  if (unknown !== undefined && isStrict) throw unknownLimit(unknown, model, reports.usesPrices === true);
  const notices = late.map(({ name, unit, reported }) =>
    reported === "never"
      ? `${name} does not apply: ${model} does not report ${NOUNS[unit]}.`
      : `${name} is checked only after a turn, because ${model} reports ${NOUNS[unit]} at the end.`,
  );
  const dueAtEnd = isStrict ? late.filter(({ reported }) => reported === "turn") : [];
  const { usesPrices = false } = reports;
  return { notices, requiresCost: isStrict && reports.costUsd === "call", dueAtEnd, isStrict, usesPrices };
}

/** The error of a turn with a model call whose cost is not known. */
export function unknownCost(model: string): TurnError {
  const message = `Stopped: the cost of ${model} is unknown, so the cost limit cannot be enforced. ${limitHint("costUsd", model, true)}`;
  return { message, errorInfo: "BudgetExceeded" };
}

/** The error of a completed turn whose agent did not report what a limit counts. */
export function missingReport({ name, unit }: ReportedLimit, model: string, usesPrices: boolean): TurnError {
  const message = `${name} could not be kept: ${model} did not report ${NOUNS[unit]} when the turn ended. ${limitHint(unit, model, usesPrices)}`;
  return { message, errorInfo: "BudgetExceeded" };
}

/** The error of a turn whose agent reports its cost in a currency that the limit does not count. */
export function foreignCost(currency: string, model: string): TurnError {
  const message = `Stopped: ${model} reports its cost in ${currency}, so the cost limit in dollars cannot be enforced. ${limitHint("costUsd", model, false)}`;
  return { message, errorInfo: "BudgetExceeded" };
}

const NOUNS: Readonly<Record<ReportedUnit, string>> = {
  tokens: "the tokens that it uses",
  costUsd: "its cost",
  steps: "its model calls",
};

function unknownLimit({ name, unit }: ReportedLimit, model: string, usesPrices: boolean): FlintError {
  const message = `${name} cannot be enforced: ${model} does not report ${NOUNS[unit]}. ${limitHint(unit, model, usesPrices)}`;
  return new FlintError("invalidParams", message, { field: "budget", limit: name, model });
}

/** `usesPrices`: a configured price would make the cost known. */
function limitHint(unit: ReportedUnit, model: string, usesPrices: boolean): string {
  const first =
    unit === "costUsd" && usesPrices
      ? `Configure its price ([models.${JSON.stringify(model)}] with price_input and price_output), remove`
      : "Remove";
  return `${first} the limit, limit the time instead, or run without a guarantee (--limits best-effort, budget.enforcement).`;
}
