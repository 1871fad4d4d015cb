import {
  type CheckResult,
  previewOf,
  type Role,
  type TaskEventBody,
  type TaskSpec,
  type TrackedFinding,
} from "@flint/protocol";
import { count, duration } from "../amounts.ts";

/** Describes an event of a task to the user in one line; undefined for steps of no interest on their own. */
export function taskLogLine(event: TaskEventBody, spec: TaskSpec): string | undefined {
  switch (event.type) {
    case "task/added":
      return `added by ${event.data.by}`;
    case "attempt/started":
      return `attempt ${event.data.attempt} starts`;
    case "run/lost":
      return `the run on ${event.data.worker} was lost`;
    case "round/started":
      return `round ${event.data.round}: ${nameOf(spec.executors[event.data.executor])} starts work`;
    case "round/executed":
      return event.data.summary === undefined
        ? "work done"
        : `work done: ${previewOf(event.data.summary, LINE_LENGTH)}`;
    case "round/checked":
      return checksLine(event.data.results);
    case "round/reviewed": {
      const { verdict, reviewer, note } = event.data;
      const words = { approve: "approves", reject: "rejects", cannotJudge: "cannot judge" };
      const what = `${nameOf(spec.reviewers[reviewer])} ${words[verdict.verdict]}: ${previewOf(verdict.summary, LINE_LENGTH)}`;
      return note === undefined ? what : `${what} (${note})`;
    }
    case "round/rejected":
      return `back to the executor${openFindings(event.data.findings)}`;
    case "task/fallback": {
      const { role, index, reason } = event.data;
      const agents = role === "executor" ? spec.executors : spec.reviewers;
      return `${nameOf(agents[index])} takes over as ${role}: ${previewOf(reason, LINE_LENGTH)}`;
    }
    case "task/suspended":
      return `suspended: ${previewOf(event.data.message ?? event.data.reason, LINE_LENGTH)}`;
    case "task/resumed":
      return `resumed by ${event.data.by}`;
    case "task/asking":
      return `asks: ${previewOf(event.data.ask.message, LINE_LENGTH)}`;
    case "task/answered": {
      const { choice, message } = event.data.answer;
      return `${event.data.by} answered ${choice}${message === undefined ? "" : `: ${previewOf(message, LINE_LENGTH)}`}`;
    }
    case "task/reviewed":
      return event.data.protectedPaths === undefined
        ? "needs approval"
        : `needs approval; it changes files that tools run: ${previewOf(event.data.protectedPaths.join(", "), LINE_LENGTH)}`;
    case "task/approved":
      return event.data.merge === undefined
        ? `approved by ${event.data.by}`
        : `${event.data.by} has it merged: ${event.data.merge}`;
    case "task/rejected":
      return `${event.data.by} requests changes: ${previewOf(event.data.comments, LINE_LENGTH)}`;
    case "merge/conflict":
      return `conflict in ${event.data.files.join(", ")}`;
    case "task/merged":
      return `result: ${event.data.ref}`;
    case "task/ended":
      return event.data.error === undefined
        ? event.data.status
        : `${event.data.status}: ${previewOf(event.data.error, LINE_LENGTH)}`;
    case "task/cancelled":
      return `cancelled by ${event.data.by}`;
    case "task/retried":
      return `retried by ${event.data.by}${event.data.from === undefined ? "" : `, from commit ${event.data.from.slice(0, 10)}`}`;
    case "task/steered":
      if (event.data.answers === true)
        return event.data.live
          ? "the turn got it"
          : `not delivered to the turn: ${previewOf(event.data.error ?? "", LINE_LENGTH)}`;
      return `${event.data.by} to the executor: ${previewOf(event.data.content, LINE_LENGTH)}`;
    case "task/logged":
      return [event.data.role, event.data.level, event.data.message].filter(Boolean).join(": ");
    case "task/released":
    case "run/leased":
    case "run/released":
    case "run/used":
    case "round/prepared":
    case "round/turn":
      return undefined;
  }
}

function nameOf(role: Role | undefined): string {
  return role?.model ?? "the default agent";
}

function checksLine(results: readonly CheckResult[]) {
  if (results.length === 0) return undefined;
  const words = results.map(({ name, exitCode, seconds, stopped }) => {
    const how = exitCode === 0 ? "passed" : "failed";
    const why = stopped === undefined ? "" : ` (${previewOf(stopped, LINE_LENGTH)})`;
    return `${previewOf(name, LINE_LENGTH)} ${how} after ${duration(seconds * 1000)}${why}`;
  });
  return `checks: ${words.join(", ")}`;
}

function openFindings(findings: readonly TrackedFinding[]): string {
  const open = findings.filter(
    ({ blocking, state }) => blocking && (state === "open" || state === "contested"),
  );
  return open.length === 0 ? "" : ` with ${count(open.length, "finding")}`;
}

const LINE_LENGTH = 300;
