import { inputText, isKnownItem, type KnownItem, type ThreadItem, type Turn } from "@flint/protocol";

/** The longest summary, and the longest part of one text in it. */
const LIMIT = 24_000;
const TEXT_LIMIT = 2_000;

/**
 * Summarizes turns as text for an agent that did not take part in them. Bounded: the oldest turns are left out first,
 * which it states. Empty if there are none.
 */
export function handoffSummary(turns: readonly Turn[]): string {
  const included: string[] = [];
  let room = LIMIT;
  for (const turn of turns.toReversed()) {
    const text = turnText(turn);
    room -= text.length;
    if (room < 0) break;
    included.unshift(text);
  }
  if (included.length === 0) return "";
  const left = turns.length - included.length;
  const omitted = left === 0 ? "" : `(${left} earlier turns are left out.)\n\n`;
  return `${omitted}${included.join("\n\n")}`;
}

function turnText(turn: Turn): string {
  const lines = turn.items.flatMap(itemText);
  const ending = turn.status === "completed" ? [] : [`(The turn was ${turn.status}.)`];
  return [...lines, ...ending].join("\n");
}

function itemText(item: ThreadItem): string[] {
  return isKnownItem(item) ? knownText(item) : [];
}

function knownText(item: KnownItem): string[] {
  switch (item.type) {
    case "userMessage":
      return [`User: ${shortened(inputText(item.content))}`];
    case "agentMessage":
      return [`Agent: ${shortened(item.text)}`];
    case "commandExecution": {
      const how = item.exitCode === undefined ? item.status : `exit ${item.exitCode}`;
      return [`Ran (${how}): ${shortened(item.command)}`];
    }
    case "fileChange":
      return item.changes.map(({ kind, path }) => `File ${kind} (${item.status}): ${path}`);
    case "mcpToolCall":
    case "toolCall":
      return [`Called ${item.tool} (${item.status})`];
    case "webSearch":
      return [`Searched the web: ${shortened(item.query)}`];
    case "plan":
      return [`Plan:\n${shortened(item.text)}`];
    case "contextCompaction":
      return item.summary === undefined ? [] : [`Summary so far: ${shortened(item.summary)}`];
    case "exitedReviewMode":
      return [`Review: ${shortened(item.review)}`];
    case "reasoning":
    case "enteredReviewMode":
    case "agentHandoff":
      return [];
  }
}

function shortened(text: string): string {
  if (text.length <= TEXT_LIMIT) return text;
  // A surrogate pair is kept whole or left out.
  return `${text.slice(0, TEXT_LIMIT).replace(/[\uD800-\uDBFF]$/, "")} … (${text.length - TEXT_LIMIT} characters left out)`;
}
