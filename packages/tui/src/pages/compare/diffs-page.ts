import { wrapLine } from "../../draw/line.ts";
import { Pager } from "../pager.ts";
import { belowEachOther, sideBySide, type TitledDiff } from "./side-by-side.ts";

/** Two diffs side by side, or one after the other if there is no room. `key` shows the next one beside the first. */
export function diffsPage(first: TitledDiff, others: readonly TitledDiff[], key: string): Pager {
  let at = 0;
  return new Pager({
    title: "Changes side by side",
    hint: others.length < 2 ? undefined : `${key} next agent`,
    lines: (look) => {
      const other = others[at];
      const both = other === undefined ? [first] : [first, other];
      const columns = look.columns - 1;
      // Read aloud, columns would be mixed up.
      const beside = look.isPlain === true || !look.unicode ? undefined : sideBySide(both, columns);
      return beside ?? belowEachOther(both).flatMap((line) => wrapLine(line, columns, 1));
    },
    command: (id) => {
      if (id !== "toggleSplit") return false;
      at = (at + 1) % Math.max(1, others.length);
      return true;
    },
  });
}
