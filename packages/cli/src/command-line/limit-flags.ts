import type { BudgetEnforcement } from "@flint/protocol";
import { ENFORCEMENTS, enforcementNamed } from "@flint/server/config";
import { choice, numberOption } from "./command.ts";
import type { Flags, FlagValues } from "./flags.ts";

/** The options that limit what a turn may use. */
export const LIMIT_FLAGS = {
  "max-tokens": { type: "string", takes: "N", doc: "Ask before continuing past this many tokens" },
  "max-cost": { type: "string", takes: "USD", doc: "Ask before continuing past this cost" },
  "max-time": { type: "string", takes: "SECONDS", doc: "Ask before continuing past this much working time" },
  "max-steps": { type: "string", takes: "N", doc: "Ask before continuing past this many model calls" },
  limits: {
    type: "string",
    takes: "HOW",
    values: ENFORCEMENTS,
    doc: "strict (default): reject limits that cannot be enforced with what the agent reports; best-effort: run anyway",
  },
} as const satisfies Flags;

type LimitValues = FlagValues<typeof LIMIT_FLAGS>;

/** The limits of one turn, as `turn/start` takes them. */
export interface TurnLimits {
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly seconds?: number;
  readonly steps?: number;
}

const LIMITS = {
  tokens: { flag: "max-tokens", noun: "token limit of", unit: "" },
  costUsd: { flag: "max-cost", noun: "cost limit of $", unit: "" },
  seconds: { flag: "max-time", noun: "time limit of", unit: "s" },
  steps: { flag: "max-steps", noun: "model call limit of", unit: "" },
} as const satisfies Readonly<Record<keyof TurnLimits, object>>;

/** The names of the limits. */
// Object.keys forgets which keys the table has.
export const LIMIT_NAMES = Object.keys(LIMITS) as readonly (keyof TurnLimits)[];

/** A limit of the command line, such as `time limit of 4s (--max-time)`. */
export function describeLimit(name: keyof TurnLimits, value: number): string {
  const { flag, noun, unit } = LIMITS[name];
  return `${noun}${noun.endsWith("$") ? "" : " "}${value}${unit} (--${flag})`;
}

/** The limits that were given; undefined if none was. */
export function limitsOf(values: LimitValues): TurnLimits | undefined {
  const limits: TurnLimits = {
    ...given("tokens", whole(values, "max-tokens")),
    ...given("costUsd", amount(values, "max-cost")),
    ...given("seconds", amount(values, "max-time")),
    ...given("steps", whole(values, "max-steps")),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function given<Name extends string>(name: Name, value: number | undefined): { [Key in Name]?: number } {
  // TypeScript widens a computed key to any string.
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: number };
}

/** Returns the enforcement of limits; undefined: as configured. */
export function enforcementOf({ limits }: LimitValues): BudgetEnforcement | undefined {
  return limits === undefined ? undefined : enforcementNamed(choice("limits", limits, ENFORCEMENTS));
}

type LimitFlag = (typeof LIMITS)[keyof TurnLimits]["flag"];

function whole(values: LimitValues, flag: LimitFlag): number | undefined {
  const isValid = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
  const text = values[flag];
  return text === undefined ? undefined : numberOption(flag, text, "a whole number above 0", isValid);
}

function amount(values: LimitValues, flag: LimitFlag): number | undefined {
  const isValid = (value: number): boolean => Number.isFinite(value) && value > 0;
  const text = values[flag];
  return text === undefined ? undefined : numberOption(flag, text, "a number above 0", isValid);
}
