import { inputText, isKnownItem, type ThreadItem, type Turn } from "@flint/protocol";

const LONGEST = 24_000;
const LONGEST_TEXT = 2_000;

/** What was said in earlier turns, for a thread that Codex has lost. The newest is kept if not all of it fits. */
export function historyText(turns: readonly Turn[]): string {
  const lines = turns.flatMap(({ items }) => items.flatMap(lineOf));
  const kept: string[] = [];
  let room = LONGEST;
  for (const line of lines.toReversed()) {
    room -= line.length + 1;
    if (room < 0) break;
    kept.unshift(line);
  }
  return kept.join("\n");
}

function lineOf(item: ThreadItem): string[] {
  if (!isKnownItem(item)) return [];
  switch (item.type) {
    case "userMessage":
      return [`User: ${cut(inputText(item.content))}`];
    case "agentMessage":
      return [`Agent: ${cut(item.text)}`];
    case "commandExecution":
      return [`Ran (${item.status}): ${cut(item.command)}`];
    case "fileChange":
      return item.changes.map(({ kind, path }) => `File ${kind} (${item.status}): ${path}`);
    default:
      return [];
  }
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} …`;
}
