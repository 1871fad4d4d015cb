import { join } from "node:path";
import type { Result, TaskRow } from "@flint/protocol";
import { diffBlocks } from "@flint/view";
import { changesPage } from "../diff-page.ts";
import type { Pager } from "../pager.ts";
import type { TaskCommand } from "./task-actions.ts";

/** Keys that come sooner after the result was shown were not meant for it. */
const QUIET_MS = 250;

/** The judgement of a result that a key gives while the result is shown. */
export interface ReviewAction {
  readonly command: TaskCommand;
  /** The key and what it does. */
  readonly hint: string;
  /** Judges exactly this tree. */
  judge(tree: string | null): void;
}

/** The result of a task as a diff, and a key that judges exactly what is shown. */
export function taskResultPage(
  { title, cwd }: Pick<TaskRow, "title" | "cwd">,
  { diff, tree }: Result<"task/diff">,
  reviewAction: ReviewAction | undefined,
  now: () => number,
): Pager {
  const blocks = diffBlocks(diff).map((block) => ({
    ...block,
    path: join(cwd, block.path),
    movePath: block.movePath === undefined ? undefined : join(cwd, block.movePath),
  }));
  const shownAt = now();
  return changesPage({
    title,
    empty: "No files were changed.",
    changes: () => ({ blocks, cwd }),
    hint: reviewAction?.hint,
    command: (id) => {
      if (reviewAction === undefined || id !== reviewAction.command) return false;
      if (now() - shownAt < QUIET_MS) return true;
      reviewAction.judge(tree);
      return "close";
    },
  });
}
