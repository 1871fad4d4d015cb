import { type Action, type Decision, describePermission, type RuleSuggestion } from "@flint/protocol";
import { type Block, diffBlock, diffBlocks, type Span } from "./row.ts";

/** An answer to an approval that a user can choose. */
export interface ApprovalChoice {
  /** The key that selects it. */
  readonly key: string;
  readonly label: string;
  /** What exactly it allows or declines. */
  readonly help: string;
  readonly decision: Decision;
}

/** What a user is asked: the action in full, and the possible answers. An approval is never folded or cut. */
export interface ApprovalPrompt {
  readonly title: string;
  /** Where it happens, such as the folder of a command. */
  readonly place?: Span | undefined;
  readonly subject: readonly Span[];
  readonly body: readonly Block[];
  /** Why the agent asks for it, or why Flint does. */
  readonly reason?: string | undefined;
  readonly choices: readonly ApprovalChoice[];
}

/** The prompt for an action that needs approval. */
export function approvalPrompt(action: Action, suggestions: readonly RuleSuggestion[] = []): ApprovalPrompt {
  return { ...subjectOf(action), reason: action.reason, choices: choicesFor(action, suggestions) };
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

function titleOf({ needs, running }: Extract<Action, { kind: "command" }>): string {
  if (needs === undefined) return "The agent wants to run a command";
  const what = describePermission(needs);
  return running === true
    ? `A running command wants to ${what}`
    : `The agent wants to run a command that may ${what}`;
}

/** What an answer for the thread or for always covers, by the kind of action. */
const COVERED: Readonly<Record<Action["kind"], string>> = {
  command: "this exact command",
  fileChange: "any change to these files",
  tool: "this call with these arguments",
};

function choicesFor(action: Action, suggestions: readonly RuleSuggestion[]): ApprovalChoice[] {
  const covered = coveredBy(action);
  return [
    { key: "y", label: "once", help: "Allow it this time", decision: allow("once") },
    { key: "s", label: "this thread", help: `Allow ${covered} in this thread`, decision: allow("session") },
    ...alwaysChoice(action, covered),
    ...prefixChoice(suggestions),
    { key: "n", label: "no", help: "Decline; the agent continues without it", decision: DECLINE },
  ];
}

function coveredBy({ kind, needs, ...rest }: Action): string {
  if (needs === undefined) return COVERED[kind];
  const allowed = `this agent to ${describePermission(needs)}`;
  if (needs.git === true) return allowed;
  return "running" in rest && rest.running === true ? allowed : `${COVERED[kind]}, and ${allowed}`;
}

/** Leaving the sandbox is never allowed for always. */
function alwaysChoice({ needs }: Action, covered: string): ApprovalChoice[] {
  if (needs?.unconfined === true) return [];
  const help = `Always allow ${covered} in this project`;
  return [{ key: "a", label: "always here", help, decision: allow("always") }];
}

/** The rule that covers every command with the same first words, if it was suggested. */
function prefixChoice(suggestions: readonly RuleSuggestion[]): ApprovalChoice[] {
  const found = suggestions.find(({ match }) => match.type === "prefix");
  if (found === undefined || found.match.type !== "prefix") return [];
  const words = found.match.words.join(" ");
  return [
    {
      key: "p",
      label: `always ${words}`,
      help: `Always allow commands that start with: ${words}`,
      decision: { outcome: "allow", scope: "always", rule: found.id },
    },
  ];
}

const DECLINE: Decision = { outcome: "deny", scope: "once" };

function allow(scope: "once" | "session" | "always"): Decision {
  return { outcome: "allow", scope };
}
