import {
  type Action,
  asksForPermissionOnly,
  type Decision,
  describeGrant,
  describePermission,
  describeRule,
  mayBeAlways,
  type RuleSuggestion,
  ruleSubjects,
} from "@flint/protocol";
import type { Block, Span } from "./row.ts";
import { diffBlock, diffBlocks } from "./rows/diff.ts";

/** An answer to an approval that a user can choose. */
export interface ApprovalChoice {
  /** The key that selects it. */
  readonly key: string;
  readonly label: string;
  /** An exact description of what it allows or declines. */
  readonly help: string;
  readonly decision: Decision;
}

/**
 * The question of an approval: the action in full, and the possible answers. An approval is never folded or
 * cut.
 */
export interface ApprovalPrompt {
  readonly title: string;
  /** The place of the action, such as the folder of a command. */
  readonly place?: Span | undefined;
  readonly subject: readonly Span[];
  readonly body: readonly Block[];
  /** The reason the agent or Flint asks for it. */
  readonly reason?: string | undefined;
  /** The reason the agent says that it needs more than its sandbox gives. */
  readonly why?: string | undefined;
  /** The outcome of an earlier run, as lines. */
  readonly after: readonly string[];
  readonly choices: readonly ApprovalChoice[];
}

/** The prompt for an action that needs approval. */
export function approvalPrompt(action: Action, suggestions: readonly RuleSuggestion[] = []): ApprovalPrompt {
  const { reason, why } = action;
  const choices = choicesFor(action, suggestions);
  return { ...subjectOf(action), reason: ownReason(action, reason), why, after: earlierRun(action), choices };
}

/** The title says already what an action needs. */
function ownReason({ needs = {} }: Action, reason: string | undefined): string | undefined {
  return reason === `It wants to ${describePermission(needs)}.` ? undefined : reason;
}

/** A command that is run again may do part of its work twice. */
function earlierRun({ after }: Action): string[] {
  if (after === undefined) return [];
  const seconds = Math.round(after.ranMs / 1000);
  const ran = seconds === 0 ? "It already ran" : `It already ran for ${seconds} s`;
  return [...after.evidence, `${ran} and may have done part of its work.`];
}

function subjectOf(action: Action): Pick<ApprovalPrompt, "title" | "place" | "subject" | "body"> {
  switch (action.kind) {
    case "command":
      return {
        title: titleOf(action),
        place: { text: action.cwd, exact: true },
        subject: [{ text: action.command, emphasis: "strong", exact: true }],
        body: [],
      };
    case "fileChange":
      return { title: "The agent wants to change files", subject: [], body: action.changes.map(diffBlock) };
    case "tool": {
      if (action.needs?.git === true) return commitsSubject(action);
      if (action.needs !== undefined && asksForPermissionOnly(action)) {
        return { title: `Allow the agent to ${describePermission(action.needs)}?`, subject: [], body: [] };
      }
      const name = action.server === undefined ? action.tool : `${action.server}.${action.tool}`;
      return {
        title: "The agent wants to call a tool",
        subject: [{ text: name, emphasis: "strong", exact: true }],
        body: [{ kind: "json", label: "arguments", value: action.arguments ?? {} }],
      };
    }
  }
}

/** Commits that an agent made in its sandbox, with their diff. The reason lists them. */
function commitsSubject(action: Action): Pick<ApprovalPrompt, "title" | "subject" | "body"> {
  const { diff } = Object("arguments" in action ? action.arguments : {});
  const body = typeof diff === "string" ? diffBlocks(diff) : [];
  return { title: "The agent made commits in its sandbox", subject: [], body };
}

/** Asks in the words of what would be allowed. */
function titleOf({ needs, running }: Extract<Action, { kind: "command" }>): string {
  if (needs === undefined) return "The agent wants to run a command";
  if (needs.unconfined === true)
    return "Run this outside the sandbox, with all of your permissions? Nothing limits it.";
  const which = running === true ? "this running command" : "this command";
  return `Allow ${which} to ${describePermission(needs)}?`;
}

function choicesFor(action: Action, suggestions: readonly RuleSuggestion[]): ApprovalChoice[] {
  const words = ruleSubjects(action).map(describeGrant).join("; ");
  return [
    { key: "y", label: "once", help: "Allow it this time", decision: allow("once") },
    {
      key: "s",
      label: "this thread",
      help: `Allow the agent, in this thread, to ${words}`,
      decision: allow("session"),
    },
    ...alwaysChoice(action, words),
    ...suggestions.flatMap((suggestion) => suggestedChoice(suggestion)),
    { key: "n", label: "no", help: "Decline; the agent continues without it", decision: DECLINE },
  ];
}

/** Leaving the sandbox and connecting to any host are never allowed for always. */
function alwaysChoice(action: Action, words: string): ApprovalChoice[] {
  if (!mayBeAlways(action)) return [];
  const help = `Always allow this agent, in this project, to ${words}`;
  return [{ key: "a", label: "always here", help, decision: allow("always") }];
}

/** A choice for a suggestion: a prefix or exactly this for this agent or for all, or all edits in this thread. */
function suggestedChoice(suggestion: RuleSuggestion): ApprovalChoice[] {
  const { id, match, agent, scopes = ["session", "always"] } = suggestion;
  const words = describeRule(suggestion);
  const scope = scopes.includes("always") ? "always" : "session";
  const decision: Decision = { outcome: "allow", scope, rule: id };
  const isForAll = agent === undefined;
  const who = isForAll ? "any agent" : "this agent";
  const help =
    scope === "always"
      ? `Always allow ${who}, in this project, to ${words}`
      : `Allow the agent, in this thread, to ${words}`;
  switch (match.type) {
    case "prefix": {
      const prefix = match.words.join(" ");
      const label = isForAll ? `always ${prefix}, any agent` : `always ${prefix}`;
      return [{ key: isForAll ? "P" : "p", label, help, decision }];
    }
    case "edits":
      return [{ key: "e", label: "all edits, this thread", help, decision }];
    case "exact":
    case "any":
      return isForAll ? [{ key: "A", label: "always here, any agent", help, decision }] : [];
  }
}

const DECLINE: Decision = { outcome: "deny", scope: "once" };

function allow(scope: "once" | "session" | "always"): Decision {
  return { outcome: "allow", scope };
}
