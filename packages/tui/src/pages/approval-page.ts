import type { Approval } from "@flint/protocol";
import { approvalPrompt } from "@flint/view";
import { canSplit, splitDiff } from "../draw/diff.ts";
import { changeSpans } from "../draw/draw-blocks.ts";
import { drawApproval } from "../draw/draw-row.ts";
import { type Line, screenRows } from "../draw/line.ts";
import { labelled } from "../draw/plain.ts";
import { hintsIn } from "./key-name.ts";
import { Pager } from "./pager.ts";

/**
 * Shows the subject of an approval on the whole screen; a diff in one column or in two. It is answered after
 * closing it.
 */
export function approvalPage({ action, suggestions }: Approval, cwd: string): Pager {
  const prompt = approvalPrompt(action, suggestions);
  let isSplit = true;
  return new Pager({
    title: prompt.title,
    hint: (look) => hintsIn(look, [["toggleSplit", "one or two columns"]]).join(""),
    lines: (look) => {
      const inner = { ...look, columns: look.columns - 1 };
      if (!isSplit || !canSplit(inner)) {
        return screenRows(labelled(drawApproval(prompt, inner, cwd), "Approval: ", inner), inner);
      }
      const diffs = prompt.body.filter((block) => block.kind === "diff");
      const rest = { ...prompt, body: prompt.body.filter((block) => block.kind !== "diff") };
      return [
        ...screenRows(drawApproval(rest, inner, cwd), inner),
        ...diffs.flatMap((block): Line[] => [
          [],
          changeSpans(block, "inProgress", look, cwd),
          ...splitDiff(block, inner, inner.columns),
        ]),
      ];
    },
    command: (id) => {
      if (id === "toggleSplit") isSplit = !isSplit;
      return id === "toggleSplit";
    },
  });
}
