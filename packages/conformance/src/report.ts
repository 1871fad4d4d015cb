import { escapeControls } from "@flint/view";
import type { CheckResult, Outcome } from "./check.ts";
import type { Entry } from "./wire/wire.ts";

/** The name of each outcome in a report. */
const MARKS: Readonly<Record<Outcome, string>> = {
  passed: "ok         ",
  failed: "FAILED     ",
  "not offered": "not offered",
};
const INDENT = " ".repeat(15);
const LONGEST_LINE = 400;
/** The end of a conversation is the most useful part. */
const MOST_LINES = 24;
const ARROWS = { sent: "sent", came: "came" } as const;

/** Returns the number of checks with each outcome. */
export function tally(findings: readonly CheckResult[]): Readonly<Record<Outcome, number>> {
  const count = (outcome: Outcome): number =>
    findings.filter((finding) => finding.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), "not offered": count("not offered") };
}

/** One check as a report shows it: its sentence, and for a failure what was sent and what came. */
export function findingLines({ name, outcome, reason, conversations }: CheckResult): string {
  const lines = [`  ${MARKS[outcome]}  ${name}`];
  if (reason !== undefined) lines.push(...indented(reason));
  if (outcome === "failed") lines.push(...conversations.flatMap(conversationLines));
  return `${lines.map(escapeControls).join("\n")}\n`;
}

/** The last line of a report. */
export function summaryLine(findings: readonly CheckResult[], seconds: number): string {
  const { passed, failed, "not offered": missing } = tally(findings);
  return `${passed} passed, ${failed} failed, ${missing} not offered (${seconds.toFixed(1)} s)\n`;
}

/** The report as one JSON value. Conversations are there for failures only. */
export function jsonReport(target: string, protocol: string, findings: readonly CheckResult[]): unknown {
  const checks = findings.map(({ about, name, outcome, reason, conversations }) => ({
    about,
    name,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(outcome === "failed"
      ? {
          conversations: conversations.map((entries) =>
            entries.map(({ direction, text }) => ({ direction, text })),
          ),
        }
      : {}),
  }));
  const { passed, failed, "not offered": notOffered } = tally(findings);
  return { target, protocol, passed, failed, notOffered, checks };
}

/** Returns the result of a comparison with a recording, as one more check. */
export function comparisonFinding(file: string, problems: readonly string[]): CheckResult {
  return {
    about: "Comparison",
    name: `the server sends the same messages in the same order as ${file}`,
    outcome: problems.length === 0 ? "passed" : "failed",
    reason: problems.length === 0 ? undefined : problems.join("\n"),
    conversations: [],
  };
}

function conversationLines(entries: readonly Entry[], place: number, all: readonly unknown[]): string[] {
  const name = all.length > 1 ? [`on connection ${place + 1}:`] : [];
  const left = entries.length - MOST_LINES;
  const more = left > 0 ? [`(${left} earlier messages)`] : [];
  const lines = entries
    .slice(-MOST_LINES)
    .map(({ direction, text }) => `${ARROWS[direction]} ${shortened(text)}`);
  return [...name, ...more, ...lines].map((line) => `${INDENT}${line}`);
}

function indented(text: string): string[] {
  return text.split("\n").map((line) => `${INDENT}${line}`);
}

function shortened(text: string): string {
  return text.length <= LONGEST_LINE ? text : `${text.slice(0, LONGEST_LINE)}… (${text.length} characters)`;
}
