import { FAULT_NAMES, type Fault } from "./faults.ts";
import type { Invariant } from "./invariants.ts";

/** Number of breaches of an invariant that a report shows. */
const SHOWN = 10;

/** The faults of a campaign, counted, as text. */
export function describeFaults(faults: readonly Fault[]): string {
  return Object.entries(FAULT_NAMES)
    .map(([kind, name]) => [faults.filter((fault) => fault === kind).length, name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(", ");
}

/** Lists the invariants that held and those that were broken, a line each. */
export function renderReport(invariants: readonly Invariant[]): string {
  const width = Math.max(...invariants.map(({ name }) => name.length));
  return invariants
    .flatMap(({ name, seen, breaches }) => [
      `${breaches.length === 0 ? "held  " : "BROKEN"}  ${name.padEnd(width)}  ${seen}`,
      ...breaches.slice(0, SHOWN).map((breach) => `        ${breach}`),
      ...(breaches.length > SHOWN ? [`        … and ${breaches.length - SHOWN} more`] : []),
    ])
    .join("\n");
}
