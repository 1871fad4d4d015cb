import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** The severity of a finding. Only `blocker` and `major` keep a round from being approved. */
export const Severity = z.enum(["blocker", "major", "minor", "preexisting"]);
export type Severity = z.output<typeof Severity>;

const line = z.string().check(z.minLength(1), z.maxLength(2000));

/** Something that a reviewer or a failed check found. */
export const Finding = looseObject(() => ({
  id: z.string().check(z.minLength(1), z.maxLength(40)),
  severity: Severity,
  file: z.optional(z.string().check(z.maxLength(1000))),
  line: z.optional(z.int().check(z.minimum(1))),
  what: line,
  why: z.optional(z.string().check(z.maxLength(2000))),
  fix: z.optional(z.string().check(z.maxLength(2000))),
}));
export type Finding = z.output<typeof Finding>;

/** A reviewer's verdict on a finding of an earlier round. */
export const EarlierFinding = looseObject(() => ({
  id: z.string(),
  state: z.enum(["resolved", "open", "withdrawn"]),
  why: z.optional(z.string().check(z.maxLength(2000))),
}));
export type EarlierFinding = z.output<typeof EarlierFinding>;

/** A reviewer's answer. Flint decides by the findings, not by the word of the verdict. */
export const Verdict = looseObject(() => ({
  verdict: z.enum(["approve", "reject", "cannotJudge"]),
  summary: z.string().check(z.maxLength(4000)),
  findings: z.array(Finding).check(z.maxLength(30)),
  earlier: z.array(EarlierFinding).check(z.maxLength(100)),
}));
export type Verdict = z.output<typeof Verdict>;

/** An executor's objection to a finding. */
export const Contest = looseObject(() => ({ id: z.string(), why: line }));
export type Contest = z.output<typeof Contest>;

/** An executor's report at the end of a round that had findings to work on. */
export const ExecutorReport = looseObject(() => ({
  summary: z.string().check(z.maxLength(4000)),
  contested: z.array(Contest).check(z.maxLength(30)),
}));
export type ExecutorReport = z.output<typeof ExecutorReport>;

/** A finding over the rounds of an attempt, under the id that Flint gave it. */
export const TrackedFinding = looseObject(() => ({
  ...Finding.def.shape,
  /** The round it was found in. */
  round: z.int(),
  source: z.enum(["reviewer", "check", "user", "merge"]),
  state: z.enum(["open", "resolved", "withdrawn", "contested"]),
  /** Number of times that the executor objected to it. */
  contests: z.int(),
  /** True if it keeps the round from being approved. */
  blocking: z.boolean(),
  /** The reviewers that hold it, by position, if several judge a round. Absent: any reviewer can settle it. */
  reviewers: z.optional(z.array(z.int())),
}));
export type TrackedFinding = z.output<typeof TrackedFinding>;

/** The findings after the executor objected to some of them. */
export function withContests(
  findings: readonly TrackedFinding[],
  contested: readonly Contest[],
): TrackedFinding[] {
  const objections = new Set(contested.map(({ id }) => id));
  return findings.map((finding) =>
    objections.has(finding.id) ? { ...finding, state: "contested", contests: finding.contests + 1 } : finding,
  );
}
