import type { Item, KnownItem } from "@flint/protocol";

/**
 * Whether a client of this wire is told of an item. The rest it hears of in another way: the agent's list of tasks as
 * `turn/plan/updated`, a question to the user as the question itself. Codex has no items for them.
 */
export function isTold(item: KnownItem): boolean {
  switch (item.type) {
    case "userMessage":
      return !saysNothing(item);
    case "plan":
      return !isTaskList(item);
    case "toolCall":
      return !ASKING_TOOLS.has(item.tool);
    default:
      return true;
  }
}

/** What stands for the input of a turn that was begun without any. */
function saysNothing({ content }: Item<"userMessage">): boolean {
  return content.every((piece) => piece.type === "text" && piece.text === "");
}

/** A list of tasks has entries; what an agent proposes before it works is a text, and an item on this wire as well. */
function isTaskList({ entries }: Item<"plan">): boolean {
  return entries !== undefined;
}

/** What agents call their tool for asking the user. */
const ASKING_TOOLS: ReadonlySet<string> = new Set(["ask_user", "AskUserQuestion"]);
