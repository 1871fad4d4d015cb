import { inputText, isKnownItem, type ThreadItem, type Turn } from "@flint/protocol";

/** How much of a history an agent without its session is given; the end of it counts most. */
const HISTORY_CHARACTERS = 24_000;
const ITEM_CHARACTERS = 2_000;

/**
 * The turns of a thread as bounded text, for an agent that no longer has its own session of them. Empty if there is
 * nothing in them.
 */
export function historyText(turns: readonly Turn[]): string {
  const pieces = turns.flatMap((turn) => turn.items.flatMap(pieceOf));
  const included: string[] = [];
  let size = 0;
  for (const piece of pieces.toReversed()) {
    size += piece.length + 1;
    if (size > HISTORY_CHARACTERS) {
      included.push("(What came before is left out.)");
      break;
    }
    included.push(piece);
  }
  if (included.length === 0) return "";
  return `This is what was said and done in this conversation before:\n${included.toReversed().join("\n")}`;
}

function pieceOf(item: ThreadItem): string[] {
  if (!isKnownItem(item)) return [];
  switch (item.type) {
    case "userMessage":
      return [`User: ${cut(inputText(item.content))}`];
    case "agentMessage":
      return [`Agent: ${cut(item.text)}`];
    case "commandExecution":
      return [`Command (${item.status}): ${cut(item.command)}`];
    case "fileChange":
      return item.changes.map(({ kind, path }) => `File (${kind}, ${item.status}): ${path}`);
    case "contextCompaction":
      return item.summary === undefined ? [] : [`Summary: ${cut(item.summary)}`];
    case "plan":
      return [`Plan: ${cut(item.text)}`];
    case "exitedReviewMode":
      return [`Review: ${cut(item.review)}`];
    // Other agents need the results of the work, not each of its steps.
    case "reasoning":
    case "subAgentMessage":
    case "hookRun":
    case "mcpToolCall":
    case "toolCall":
    case "webSearch":
    case "enteredReviewMode":
    case "agentHandoff":
      return [];
  }
}

function cut(text: string): string {
  return text.length <= ITEM_CHARACTERS ? text : `${text.slice(0, ITEM_CHARACTERS)}…`;
}
