import type { CheckResult, RoundReview, RoundState, TaskState, TrackedFinding } from "@flint/protocol";
import { count, duration, escapeControls } from "@flint/view";
import { indented, type Line, lineOf, type Style, span } from "../../draw/line.ts";
import type { Marks } from "../../draw/render-options.ts";

/** A part of a task's page with its heading. */
export type Section = readonly [title: string, lines: readonly Line[]];

/** Each round of each attempt: the work, its checks, the verdicts, and the findings as they stand now. */
export function roundSections(state: TaskState, marks: Marks): Section[] {
  const { attempt, rounds, earlierAttempts, findings, spec } = state;
  const draw = (round: RoundState, found: readonly TrackedFinding[]) => [
    ...workLines(round, spec.executors[round.executor]?.model, marks),
    ...round.checks.flatMap((check) => checkLines(check, marks)),
    ...round.reviews.map((review) => reviewLine(review, spec.reviewers[review.reviewer]?.model, marks)),
    ...found.flatMap((finding) => findingLines(finding, marks)),
  ];
  const heading = (round: number, of: number) =>
    attempt === 1 ? `Round ${round}` : `Attempt ${of}, round ${round}`;
  return [
    ...earlierAttempts.flatMap((earlier) =>
      earlier.rounds.map((round): Section => [heading(round.round, earlier.attempt), draw(round, [])]),
    ),
    ...rounds.map(
      (round): Section => [
        heading(round.round, attempt),
        draw(
          round,
          // Findings of checks are on the rows of the checks.
          findings.filter((finding) => finding.round === round.round && finding.source !== "check"),
        ),
      ],
    ),
  ];
}

function workLines({ tree, summary }: RoundState, model: string | undefined, marks: Marks): Line[] {
  const agent = escapeControls(model ?? "the default agent");
  if (tree === undefined) return [[span(`${marks.running} `, "green"), span(`${agent} works`)]];
  const [first = "", ...rest] = escapeControls(summary?.trim() || "work done").split("\n");
  return [
    [span(`${marks.done} `, "green"), span(`${agent}: `, "cyan"), span(first)],
    ...rest.map((line) => indented(lineOf(line), 2)),
  ];
}

/** Of the output of a check that failed, its end. */
const OUTPUT_LINES = 8;

function checkLines(
  { name, exitCode, timedOut, seconds, output, stopped }: CheckResult,
  marks: Marks,
): Line[] {
  const isPassed = exitCode === 0;
  const how = timedOut ? "timed out" : isPassed ? "passed" : `failed with ${exitCode ?? "a signal"}`;
  const head: Line = [
    span(`${isPassed ? marks.done : marks.failed} `, isPassed ? "green" : "red"),
    span(`${escapeControls(name)} `, "bold"),
    span(`${how} after ${duration(seconds * 1000)}`),
  ];
  const end = isPassed || output.trim() === "" ? [] : escapeControls(output).trimEnd().split("\n");
  const why = stopped === undefined ? [] : [indented(lineOf(escapeControls(stopped), "yellow"), 2)];
  return [head, ...why, ...end.slice(-OUTPUT_LINES).map((line) => indented(lineOf(line, "dim"), 2))];
}

function reviewLine({ verdict, note }: RoundReview, model: string | undefined, marks: Marks): Line {
  const looks: Readonly<Record<typeof verdict.verdict, readonly [string, Style, string]>> = {
    approve: [marks.done, "green", "approves"],
    reject: [marks.failed, "red", "rejects"],
    cannotJudge: [marks.warning, "yellow", "cannot judge"],
  };
  const [mark, style, word] = looks[verdict.verdict];
  const findings = verdict.findings.length === 0 ? "" : ` (${count(verdict.findings.length, "finding")})`;
  return [
    span(`${mark} `, style),
    span(`${escapeControls(model ?? "the default agent")} ${word}: `, "cyan"),
    span(escapeControls(verdict.summary).replaceAll("\n", " ")),
    span(`${findings}${note === undefined ? "" : ` (${escapeControls(note)})`}`, "dim"),
  ];
}

function findingLines(finding: TrackedFinding, marks: Marks): Line[] {
  const { id, severity, state, file, line, what, fix, source } = finding;
  const looks: Readonly<Record<typeof state, readonly [string, Style]>> = {
    open: [marks.failed, finding.blocking ? "red" : "dim"],
    contested: [marks.warning, "yellow"],
    resolved: [marks.done, "green"],
    withdrawn: [marks.declined, "dim"],
  };
  const [mark, style] = looks[state];
  const where = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`} `;
  const head: Line = [
    span(`  ${mark} `, style),
    span(escapeControls(`${id} ${source === "reviewer" ? severity : source}, ${state}  `), "dim"),
    span(escapeControls(where), "cyan"),
    span(escapeControls(what).replaceAll("\n", " ")),
  ];
  return fix === undefined
    ? [head]
    : [head, lineOf(`    Fix: ${escapeControls(fix)}`.replaceAll("\n", " "), "dim")];
}
