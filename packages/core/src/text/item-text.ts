import { inputText, isKnownItem, type KnownItem, type ThreadItem } from "@flint/protocol";
import { firstCharacters } from "./bounded.ts";

/** An earlier item as lines for an agent that did not see it; its texts are cut to the limit. Empty if it is of no use. */
export function itemText(item: ThreadItem, limit: number): string[] {
  return isKnownItem(item) ? knownText(item, limit) : [];
}

function knownText(item: KnownItem, limit: number): string[] {
  const shortened = (text: string): string => shortenedTo(text, limit);
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
    case "subAgentMessage":
    case "hookRun":
    case "enteredReviewMode":
    case "agentHandoff":
      return [];
  }
}

function shortenedTo(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = firstCharacters(text, limit);
  return `${start} … (${text.length - start.length} characters left out)`;
}
