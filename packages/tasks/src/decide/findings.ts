import {
  type CheckResult,
  type EarlierFinding,
  type Finding,
  reviewModeOf,
  Severity,
  type TaskState,
  type TrackedFinding,
  type Verdict,
} from "@flint/protocol";

/** Reports whether a finding keeps its round from being approved. */
export function isBlocking(finding: TrackedFinding): boolean {
  return finding.blocking && (finding.state === "open" || finding.state === "contested");
}

/** The findings that keep a round from being approved. */
export function blockingFindings(findings: readonly TrackedFinding[]): TrackedFinding[] {
  return findings.filter(isBlocking);
}

/**
 * Facts about a verdict besides its text: the new findings, by position, that are on lines that the last
 * round changed.
 */
export interface VerdictEvidence {
  readonly onChangedLines: ReadonlySet<number>;
}

/**
 * All findings after a verdict. Flint gives new ones their id. After the first round, a new finding blocks only if it is
 * a blocker or on lines that changed since, so that a review cannot continue for ever.
 */
export function findingsAfterVerdict(
  state: TaskState,
  round: number,
  verdict: Verdict,
  { onChangedLines }: VerdictEvidence,
): TrackedFinding[] {
  const judge = judgeOf(state);
  const judged = new Map(verdict.earlier.map((earlier) => [earlier.id, earlier.state]));
  const repeats = (finding: Finding, earlier: TrackedFinding) =>
    // A second reviewer of the same round may number from F1 too.
    isRepeated(finding, earlier) && (judge === undefined || finding.file === earlier.file);
  const known = state.findings.map((finding) => {
    const isAgain = judge !== undefined && verdict.findings.some((each) => repeats(each, finding));
    return afterJudgement(finding, isAgain ? "open" : judged.get(finding.id), judge);
  });
  const fresh = verdict.findings.filter((finding) => !known.some((earlier) => repeats(finding, earlier)));
  const first = known.filter(({ source }) => source === "reviewer").length + 1;
  const added = fresh.map((finding, index): TrackedFinding => {
    const matters = finding.severity === "blocker" || finding.severity === "major";
    const counts =
      round === 1 || finding.severity === "blocker" || onChangedLines.has(verdict.findings.indexOf(finding));
    return {
      ...finding,
      id: `F${first + index}`,
      round,
      source: "reviewer",
      state: "open",
      contests: 0,
      blocking: matters && counts,
      ...(judge === undefined ? {} : { reviewers: [judge] }),
    };
  });
  return [...known, ...added];
}

/** The reviewer whose findings only it can settle; undefined if one reviewer judges alone. */
function judgeOf({ spec, reviewer }: TaskState): number | undefined {
  return reviewModeOf(spec) === "first" ? undefined : reviewer;
}

/** A finding after what a reviewer said of it. Of several reviewers, each that holds it has to let it go. */
function afterJudgement(
  finding: TrackedFinding,
  said: EarlierFinding["state"] | undefined,
  judge: number | undefined,
): TrackedFinding {
  if (said === undefined) return finding;
  if (judge === undefined) return { ...finding, state: said };
  const others = finding.reviewers?.filter((reviewer) => reviewer !== judge) ?? [];
  if (said === "open") {
    // A blocker blocks again that did not, because another reviewer's approval was enough in an earlier round.
    const blocking = finding.blocking || finding.severity === "blocker";
    return { ...finding, state: said, blocking, reviewers: [...others, judge] };
  }
  if (others.length > 0) return { ...finding, reviewers: others };
  return { ...finding, state: said };
}

/** The findings for which the reviewer that judges now keeps the round from being approved. */
export function heldFindings(state: TaskState, findings: readonly TrackedFinding[]): TrackedFinding[] {
  const judge = judgeOf(state);
  return blockingFindings(findings).filter(
    ({ reviewers }) => judge === undefined || reviewers === undefined || reviewers.includes(judge),
  );
}

/** The findings after one of several reviewers approved, if one is enough: what only others hold does not block. */
export function approvedByOne(findings: readonly TrackedFinding[]): TrackedFinding[] {
  return findings.map((finding) => (isBlocking(finding) ? { ...finding, blocking: false } : finding));
}

/**
 * Reports whether a verdict only repeats an open finding. Models number from F1 in every round: a settled
 * finding with the same id, or one that matters less, is another one.
 */
function isRepeated({ id, severity }: Finding, earlier: TrackedFinding): boolean {
  const isOpen = earlier.state === "open" || earlier.state === "contested";
  const ranks = Severity.options;
  return earlier.id === id && isOpen && ranks.indexOf(earlier.severity) <= ranks.indexOf(severity);
}

/** All findings after the checks of a round: each failed check is one, and those of earlier rounds are settled. */
export function findingsAfterChecks(
  state: TaskState,
  round: number,
  results: readonly CheckResult[],
  source: "check" | "merge" = "check",
): TrackedFinding[] {
  const known = state.findings.map(
    (finding): TrackedFinding =>
      finding.source === "check" || finding.source === "merge" ? { ...finding, state: "resolved" } : finding,
  );
  const failed = results.filter(({ exitCode }) => exitCode !== 0);
  const added = failed.map(
    ({ name, exitCode, timedOut, output, stopped }, index): TrackedFinding => ({
      id: `C${round}.${index + 1}`,
      severity: "blocker",
      what: [
        timedOut ? `${name} did not end in time` : `${name} exited with ${exitCode ?? "a signal"}`,
        ...(stopped === undefined ? [] : [stopped]),
      ]
        .join(". ")
        .slice(0, 2000),
      ...(output === "" ? {} : { why: output.slice(-2000) }),
      round,
      source,
      state: "open",
      contests: 0,
      blocking: true,
    }),
  );
  return [...known, ...added];
}

/** All findings after someone asked for changes in their own words. */
export function withComment(
  state: TaskState,
  round: number,
  what: string,
  source: "user" | "merge",
): TrackedFinding[] {
  const prefix = source === "user" ? "P" : "M";
  const count = state.findings.filter((finding) => finding.id.startsWith(prefix)).length;
  const finding: TrackedFinding = {
    id: `${prefix}${count + 1}`,
    severity: "blocker",
    what: what.slice(0, 2000),
    round,
    source,
    state: "open",
    contests: 0,
    blocking: true,
  };
  return [...state.findings, finding];
}

/** The findings of the user or of a merge that the executor has had a round to work on count as done; the reviewer looks. */
export function settled(findings: readonly TrackedFinding[], round: number): TrackedFinding[] {
  return findings.map(
    (finding): TrackedFinding =>
      finding.round < round &&
      finding.state === "open" &&
      (finding.source === "user" || finding.source === "merge")
        ? { ...finding, state: "resolved" }
        : finding,
  );
}
