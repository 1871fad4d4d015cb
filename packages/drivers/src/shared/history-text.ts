import { itemText } from "@flint/core/text";
import type { Turn } from "@flint/protocol";

/** Maximum length of the history for an agent without its session; the end of it counts most. */
const HISTORY_CHARACTERS = 24_000;
const ITEM_CHARACTERS = 2_000;

/**
 * The turns of a thread as bounded text, for an agent that no longer has its own session of them. Empty if there is
 * nothing in them.
 */
export function historyText(turns: readonly Turn[]): string {
  const pieces = turns.flatMap((turn) => turn.items.flatMap((item) => itemText(item, ITEM_CHARACTERS)));
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
