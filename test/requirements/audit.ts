import type { Citations, Evidence } from "./collect.ts";
import { type Requirement, SOURCES, type Source } from "./requirement.ts";

/** The part of a row that the audit looks at; requirements and safety cases both have it. */
export type Row = { id: string; behaviour: string; status: "done" | "planned"; subject?: string };

/** Everything wrong with the requirement rows themselves, as sentences; empty when all is well. */
export function auditManifest(rows: readonly Requirement[]): string[] {
  const sources = Object.keys(SOURCES).filter((key): key is Source => key in SOURCES);
  return [...auditRows(rows), ...sources.flatMap((source) => auditNumbering(source, rows))];
}

/** Everything wrong with rows of any kind: repeated ids, empty sentences, planned rows that wait for nothing. */
export function auditRows(rows: readonly Row[]): string[] {
  const ids = rows.map((row) => row.id);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...list("listed more than once", repeated),
    ...list(
      "planned, but no subject is named",
      idsOf(rows, (row) => row.status === "planned" && !row.subject),
    ),
    ...list(
      "done, yet still names a subject",
      idsOf(rows, (row) => row.status === "done" && row.subject !== undefined),
    ),
    ...list(
      "without a sentence",
      idsOf(rows, (row) => row.behaviour.trim() === ""),
    ),
  ];
}

/** Everything wrong between rows and tests: done rows that no test cites, citations that name no row. */
export function auditCitations(rows: readonly Row[], citations: Citations): string[] {
  const known = new Set(rows.map((row) => row.id));
  const unknown = [...citations].filter(([id]) => !known.has(id));
  return [
    ...list(
      "done, but no test cites",
      idsOf(rows, (row) => row.status === "done" && !citations.has(row.id)),
    ),
    ...unknown.map(([id, files]) => `unknown id ${id}, cited in ${files.join(", ")}`),
  ];
}

/** Everything in the tests that looks like proof and is none: ids of groups, tests that are switched off or empty. */
export function auditTests({ ofGroups, switchedOff, empty }: Evidence): string[] {
  return [
    ...[...ofGroups].map(
      ([id, files]) => `${id} is cited by a describe, which proves nothing: ${files.join(", ")}`,
    ),
    ...list("switched off, or keeps others from running", switchedOff),
    ...list("empty", empty),
  ];
}

function auditNumbering(source: Source, rows: readonly Requirement[]): string[] {
  const { count } = SOURCES[source];
  const expected = Array.from({ length: count }, (_, index) => `${source}-${index + 1}`);
  const present = new Set(rows.filter((row) => row.source === source).map((row) => row.id));
  return [
    ...list(
      `missing from ${source}, which has ${count}`,
      expected.filter((id) => !present.has(id)),
    ),
    ...list(
      `beyond the ${count} of ${source}`,
      [...present].filter((id) => !expected.includes(id)),
    ),
  ];
}

function idsOf(rows: readonly Row[], matches: (row: Row) => boolean): string[] {
  return rows.filter(matches).map((row) => row.id);
}

function list(problem: string, ids: readonly string[]): string[] {
  return ids.length === 0 ? [] : [`${problem}: ${ids.join(", ")}`];
}
