import { type Budget, type Cost, isPathIn } from "@flint/protocol";

/** A duration as users read it: `0.4s`, `12s`, `3m 05s`, `1h 02m`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${padded(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${padded(Math.floor(whole / 60) % 60)}m`;
}

const AGE_UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

/** Formats the age of something: `5 min ago`. */
export function ageOf(then: number, now: number): string {
  const ago = Math.max(0, now - then);
  const [length, unit] = AGE_UNITS.find(([each]) => ago >= each) ?? [0, ""];
  return length === 0 ? "just now" : `${Math.floor(ago / length)} ${unit} ago`;
}

/** A number of tokens as users read it: `940 tokens`, `1.2k tokens`, `3.4M tokens`. */
export function tokens(count: number): string {
  return count === 1 ? "1 token" : `${short(count)} tokens`;
}

/** Money as users read it, with enough digits to differ from zero: `$0.021`, `about $0.14` if it is estimated. */
export function money({ amount, currency, estimated = false }: Cost): string {
  const digits = amount === 0 || amount >= 1 ? 2 : amount >= 0.01 ? 3 : 4;
  const text = amount.toFixed(digits);
  const shown = currency === "USD" ? `$${text}` : `${text} ${currency}`;
  return estimated ? `about ${shown}` : shown;
}

/** The limits of a budget as users read them: `$2.00, 5m 00s per turn; 1.0M tokens per thread`. Empty if there are none. */
export function budget({ turn = {}, thread = {} }: Budget): string {
  const parts = [
    ["turn", turn, turn.steps === undefined ? [] : [count(turn.steps, "model call")]],
    ["thread", thread, thread.turns === undefined ? [] : [count(thread.turns, "turn")]],
  ] as const;
  return parts
    .map(([scope, limits, more]) => ({ scope, amounts: [...limitWords(limits), ...more] }))
    .filter(({ amounts }) => amounts.length > 0)
    .map(({ scope, amounts }) => `${amounts.join(", ")} per ${scope}`)
    .join("; ");
}

function limitWords(limits: Pick<NonNullable<Budget["turn"]>, "costUsd" | "tokens" | "seconds">): string[] {
  const { costUsd, tokens: most, seconds } = limits;
  return [
    ...(costUsd === undefined ? [] : [money({ amount: costUsd, currency: "USD" })]),
    ...(most === undefined ? [] : [tokens(most)]),
    ...(seconds === undefined ? [] : [duration(seconds * 1000)]),
  ];
}

/** A size as users read it: `512 bytes`, `1.5 KiB`, `3.2 MiB`, `75.0 GiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  const [amount, unit] =
    bytes < MIB
      ? ([bytes / 1024, "KiB"] as const)
      : bytes < GIB
        ? ([bytes / MIB, "MiB"] as const)
        : ([bytes / GIB, "GiB"] as const);
  return `${amount.toFixed(1)} ${unit}`;
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** A count with its noun: `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A folder as people write it: with `~` for their home. */
export function shortFolder(folder: string, home: string | undefined): string {
  const isInHome = home !== undefined && home !== "/" && isPathIn(folder, home);
  return isInHome ? `~${folder.slice(home.length)}` : folder;
}

function short(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${(count / 1000).toFixed(count < 99_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

function padded(number: number): string {
  return String(number).padStart(2, "0");
}
