import {
  type Action,
  describeRule,
  type PlanEntry,
  previewOf,
  type Resolution,
  type Rule,
  type ThreadItem,
  type TurnError,
} from "@flint/protocol";
import { escapeExact } from "./escape.ts";
import { isLogged, rowOf } from "./items.ts";
import { type Row, spanText } from "./row.ts";

const MAX_COMMAND = 100;

/** One line about the start or the end of an item, for a log of events; undefined for what is not worth a line. */
export function describeItem(item: ThreadItem, when: "started" | "completed"): string | undefined {
  if (!isLogged(item, when)) return undefined;
  const row = rowOf(item);
  if (row.family === "plan") return describePlanRow(row);
  const title = row.family === "command" ? `$ ${shortCommand(row)}` : spanText(row.title);
  if (!isWork(row)) return title;
  return when === "started" ? `${title} …` : `${title} … ${describeEnd(row)}`;
}

/** The progress of a plan in one line. */
export function describePlan(entries: readonly PlanEntry[]): string {
  const done = entries.filter(({ status }) => status === "completed").length;
  const current = entries.find(({ status }) => status === "inProgress");
  return `Plan: ${done} of ${entries.length} done${current === undefined ? "" : `, now ${current.step}`}`;
}

/** An error of a turn in one line. */
export function describeError({ message }: Pick<TurnError, "message">, willRetry: boolean): string {
  return willRetry ? `${message} (retrying)` : message;
}

/** A switch to another model in one line. */
export function describeReroute(event: {
  readonly fromModel: string;
  readonly toModel: string;
  readonly reason: string;
}): string {
  return `Using ${event.toModel} instead of ${event.fromModel}: ${event.reason}`;
}

/** The outcome of an approval, in a few words. */
export function describeResolution({ decision, by }: Resolution): string {
  switch (decision.outcome) {
    case "allow":
      return `allowed ${SCOPES[decision.scope]}`;
    case "deny":
      return `declined${DECLINED_BY[by]}`;
    case "cancel":
      return by === "client" ? "declined, and the turn is interrupted" : `not answered${DECLINED_BY[by]}`;
  }
}

const SCOPES = { once: "once", session: "for this thread", always: "always" } as const;

const DECLINED_BY: Readonly<Record<Resolution["by"], string>> = {
  client: "",
  rule: " by a rule",
  timeout: ": no answer in time",
  interrupt: ": the turn was interrupted",
  turnEnded: ": the turn ended",
  serverStopped: ": the server stopped",
};

function describePlanRow({ body: [block] }: Row): string | undefined {
  return block?.kind === "plan" ? describePlan(block.entries) : undefined;
}

function shortCommand({ title }: Row): string {
  return previewOf(spanText(title)).slice(0, MAX_COMMAND);
}

/** Reports whether a row shows work that can fail, so that its end is worth a word. */
function isWork({ family }: Row): boolean {
  return family === "command" || family === "change" || family === "tool";
}

function describeEnd({ outcome, status, body }: Row): string {
  const problem = body.find((block) => block.kind === "error");
  const end = outcome ?? status;
  return problem === undefined ? end : `${end}: ${problem.text}`;
}

/** An action that needs approval, in a few words. */
export function describeAction(action: Action): string {
  switch (action.kind) {
    case "command":
      return `the command "${previewOf(action.command)}"`;
    case "fileChange":
      return previewOf(`a change to ${action.changes.map(({ path }) => path).join(", ")}`);
    case "tool":
      return `the tool "${action.server === undefined ? "" : `${action.server}.`}${action.tool}"`;
  }
}

/** Describes a rule on one line and by its exact characters. */
export function ruleLine(rule: Rule): string {
  return escapeExact(describeRule(rule)).replaceAll("\n", "\\n");
}
