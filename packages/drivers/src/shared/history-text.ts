import { inputText, isKnownItem, type ThreadItem, type Turn } from "@flint/protocol";

/** How much of what was said is given to an agent that lost its memory; the end of it counts most. */
const LONGEST_HISTORY = 24_000;
const LONGEST_PIECE = 2_000;

/**
 * What was said and done in turns, for an agent that has lost its own memory of them, as text of a bounded length. Empty
 * if there is nothing to tell.
 */
export function historyText(turns: readonly Turn[]): string {
  const pieces = turns.flatMap((turn) => turn.items.flatMap(pieceOf));
  const kept: string[] = [];
  let size = 0;
  for (const piece of pieces.toReversed()) {
    size += piece.length + 1;
    if (size > LONGEST_HISTORY) {
      kept.push("(What came before is left out.)");
      break;
    }
    kept.push(piece);
  }
  if (kept.length === 0) return "";
  return `This is what was said and done in this conversation before:\n${kept.toReversed().join("\n")}`;
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
    default:
      return [];
  }
}

function cut(text: string): string {
  return text.length <= LONGEST_PIECE ? text : `${text.slice(0, LONGEST_PIECE)}…`;
}
