import type { Row } from "./audit.ts";
import { idsInTitle } from "./citations.ts";
import type { Evidence } from "./collect.ts";

/** The outcome of one test of a run. */
export type TestRun = { title: string; file: string; state: string; reason?: string };

/** Returns the proof of a run: for each id the files whose tests cite it, ran and passed, in order of id. */
export function provedBy(runs: readonly TestRun[]): Record<string, string[]> {
  const proved = new Map<string, Set<string>>();
  for (const { title, file, state } of runs) {
    if (state !== "passed") continue;
    for (const id of idsInTitle(title)) proved.set(id, (proved.get(id) ?? new Set()).add(file));
  }
  const ordered = [...proved].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
  return Object.fromEntries(ordered.map(([id, files]) => [id, [...files].sort()]));
}

/**
 * The done rows that a whole run did not prove, each as a sentence with the reason. What only `npm run torture` tries is
 * left to it.
 */
export function unproved(rows: readonly Row[], runs: readonly TestRun[], evidence: Evidence): string[] {
  const proved = provedBy(runs);
  const missing = rows.filter(({ id, status }) => status === "done" && proved[id] === undefined);
  return missing
    .filter(({ id }) => !evidence.ofTorture.has(id))
    .map(({ id }) => `${id} is not proved: ${whyNot(id, runs, evidence)}`);
}

function whyNot(id: string, runs: readonly TestRun[], { citations, ofGroups }: Evidence): string {
  const citing = runs.filter(({ title }) => idsInTitle(title).includes(id));
  if (citing.length > 0) return citing.map(describeRun).join("; ");
  const [written, group] = [citations.get(id), ofGroups.get(id)];
  if (written !== undefined) return `its tests never ran (${written.join(", ")})`;
  return group === undefined ? "no test cites it" : `only a describe cites it (${group.join(", ")})`;
}

function describeRun({ title, file, state, reason }: TestRun): string {
  const word = state === "pending" ? "never ran" : state;
  return `"${title}" ${word} in ${file}${reason === undefined ? "" : ` (${reason})`}`;
}
