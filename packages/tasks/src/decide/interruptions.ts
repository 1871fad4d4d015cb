import {
  currentRound,
  nextRole,
  type Role,
  type RunUsage,
  reviewModeOf,
  type TaskState,
} from "@flint/protocol";
import { asking, type DecisionContext, type Events, event, interrupted } from "./decision.ts";
import { blockingFindings } from "./findings.ts";
import { fail, reject } from "./finish.ts";
import type { Interruption } from "./outcomes.ts";
import { backoffUntil, resumption } from "./waiting.ts";

const AT_LIMIT = "Its usage limit is reached.";

type RoleName = "executor" | "reviewer";

/** Returns the events that follow when a turn of a role had no result. All of its usage counts. */
export function afterInterruption(
  state: TaskState,
  role: RoleName,
  interruption: Interruption & { readonly usage: RunUsage },
  context: DecisionContext,
): Events {
  const { usage } = interruption;
  // The limit of the account counts for the other tasks too, even if this one ends.
  const limit = interruption.kind === "limit" ? { limit: interruption.limit } : {};
  const used = usage.seconds > 0 || "limit" in limit ? [event("run/used", { usage, ...limit })] : [];
  return [...used, ...consequences(state, role, interruption, context)];
}

function consequences(
  state: TaskState,
  role: RoleName,
  interruption: Interruption,
  context: DecisionContext,
): Events {
  switch (interruption.kind) {
    case "limit":
      return fallback(state, role, AT_LIMIT, context) ?? atLimit(state, role, interruption, context);
    case "overload":
      return backOff(state, interruption.message, context);
    case "asks": {
      const { reason, message, request, threadId } = interruption;
      return [asking(context, reason, message, { ...(request === undefined ? {} : { request }), threadId })];
    }
    case "budget":
      return [asking(context, "budget", interruption.message)];
    case "stopped":
      return [event("run/released", { reason: interruption.message })];
    case "interrupted":
      return [event("task/suspended", { reason: "user", ...pauseNote(role, interruption.message, context) })];
    case "unstored":
      return [asking(context, "place", interruption.message)];
    case "needsUser":
      return (
        fallback(state, role, interruption.message, context) ?? [
          asking(context, "failure", interruption.message),
        ]
      );
    case "failed":
      return (
        fallback(state, role, interruption.message, context) ??
        afterFailure(state, role, interruption.message, context)
      );
  }
}

/** Returns the note on a turn that was interrupted in its thread; the user who did that resumes the task. */
function pauseNote(role: RoleName, message: string, context: DecisionContext) {
  const instructions = role === "executor" ? { instructions: interrupted("a user", context) } : {};
  return { message: message.slice(0, 1000), ...instructions };
}

/**
 * The next agent of the role takes over, if there is one; undefined otherwise, and where each reviewer has to approve. If one
 * approval is enough and none is left that could give it, the findings of those that judged count.
 */
export function fallback(
  state: TaskState,
  role: RoleName,
  reason: string,
  context: DecisionContext,
): Events | undefined {
  const mode = role === "reviewer" ? reviewModeOf(state.spec) : "first";
  if (mode === "all") return undefined;
  const [agents, at] =
    role === "executor" ? [state.spec.executors, state.executor] : [state.spec.reviewers, state.reviewer];
  if (at + 1 >= agents.length) return mode === "any" ? rejectedByOthers(state, context) : undefined;
  return [event("task/fallback", { role, index: at + 1, reason: reason.slice(0, 1000) })];
}

function rejectedByOthers(state: TaskState, context: DecisionContext): Events | undefined {
  const isJudged = currentRound(state)?.reviews.some(({ verdict }) => verdict.verdict === "reject") === true;
  if (!isJudged || blockingFindings(state.findings).length === 0) return undefined;
  return reject(state, state.findings, context);
}

/** The next agent of the role that can work takes over from one whose account is at its limit; undefined if there is none. */
export function aroundLimit(state: TaskState, isLimited: (role: Role) => boolean): Events | undefined {
  const { role, at, agents } = nextRole(state);
  const free = agents.findIndex((agent) => !isLimited(agent));
  if (free <= 0) return undefined;
  return [event("task/fallback", { role, index: at + free, reason: AT_LIMIT })];
}

/** A transient failure: the task pauses, longer each time, and finally fails. */
export function backOff(state: TaskState, message: string, context: DecisionContext): Events {
  const untilMs = backoffUntil(state.backoffs, context.now, context.random);
  if (untilMs === undefined) return fail(`${message} (after ${state.backoffs} pauses)`);
  return [event("task/suspended", { reason: "backoff", untilMs, message: message.slice(0, 1000) })];
}

function afterFailure(state: TaskState, role: RoleName, message: string, context: DecisionContext): Events {
  if (role === "reviewer") return [asking(context, "cannotJudge", `The review failed: ${message}`)];
  return state.attempt < state.spec.attempts
    ? [
        event("attempt/started", { attempt: state.attempt + 1, ...lastCommit(state) }),
        event("run/released", { reason: message.slice(0, 1000) }),
      ]
    : fail(message);
}

/** A new attempt continues from the last round that was committed. */
function lastCommit(state: TaskState): { from?: string } {
  const commit = state.rounds.findLast((round) => typeof round.commit === "string")?.commit;
  return typeof commit === "string" ? { from: commit } : {};
}

function atLimit(
  state: TaskState,
  role: RoleName,
  { limit }: Extract<Interruption, { kind: "limit" }>,
  context: DecisionContext,
): Events {
  const policy = state.spec.limits;
  const what = `${limit.agent} reached its usage limit (${limit.window})`;
  if (policy.resume === "never") return fail(`${what}.`);
  const repeats = state.limitsInRow;
  const next = resumption(limit, policy, { now: context.now, random: context.random, repeats });
  if ("ask" in next) return [asking(context, "limit", `${what}. ${next.ask}`)];
  return [
    event("task/suspended", {
      reason: "usageLimit",
      untilMs: next.untilMs,
      account: limit.account ?? limit.agent,
      limit,
      message: `${what}.`,
      ...(role === "executor" ? { instructions: interrupted("a usage limit", context) } : {}),
    }),
  ];
}
