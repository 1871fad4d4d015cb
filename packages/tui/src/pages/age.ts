const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

/** How long ago something was: `5 min ago`. */
export function ageOf(then: number, now: number): string {
  const ago = Math.max(0, now - then);
  const [length, unit] = UNITS.find(([each]) => ago >= each) ?? [0, ""];
  return length === 0 ? "just now" : `${Math.floor(ago / length)} ${unit} ago`;
}
