import { relative } from "node:path";
import type { FileUpdateChange, Item } from "@flint/protocol";
import { visible } from "@flint/view";
import { diffLines, diffSize } from "./diff-lines.ts";
import { indented, type Line, type Span, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import { type Block, foldAfter } from "./wrap.ts";

/** Of a change that is done, no more lines than this stay on the screen. One that is asked about is shown whole. */
const DIFF_LINES = 60;

const VERBS = { add: "Added", modify: "Changed", delete: "Deleted" } as const;
const WISHES = { add: "add", modify: "change", delete: "delete" } as const;
const STATUS_MARKS = {
  completed: "done",
  failed: "failed",
  declined: "declined",
  inProgress: "running",
} as const;
const STATUS_STYLES = { completed: "green", failed: "red", declined: "yellow", inProgress: "cyan" } as const;

interface ChangeContext {
  readonly look: Look;
  readonly cwd: string;
  /** Whether the diffs are on the screen already. */
  readonly seen?: boolean | undefined;
}

/** The files of a change, each with its diff. */
export function changeBlocks(
  { changes, status }: Item<"fileChange">,
  { look, cwd, seen }: ChangeContext,
): Block[] {
  const mark = span(marksFor(look.unicode)[STATUS_MARKS[status]], STATUS_STYLES[status]);
  return changes.map((change) => {
    const end = status === "completed" ? "" : `  ${status === "declined" ? "declined, not written" : status}`;
    const verb = status === "completed" ? VERBS[change.kind] : `To ${WISHES[change.kind]}`;
    const head = [mark, span(` ${verb} `), ...nameSpans(change, look, cwd), span(end, "dim")];
    const body = seen === true ? [] : foldAfter(diffLines(change.diff), DIFF_LINES, look);
    return { head: [head], body: body.map((line) => indented(line, 2)), indent: 2 };
  });
}

/** The files of a change that is asked about, with their whole diffs. */
export function wantedChangeLines(
  changes: readonly FileUpdateChange[],
  { look, cwd }: ChangeContext,
): Line[] {
  return changes.flatMap((change) => {
    const head = [span(`${WISHES[change.kind]} `), ...nameSpans(change, look, cwd)];
    return [head, ...diffLines(change.diff)];
  });
}

/** A path as it is shortest and still true. */
export function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return visible(inside === "" || inside.startsWith("..") ? path : inside);
}

function nameSpans(change: FileUpdateChange, look: Look, cwd: string): Span[] {
  const marks = marksFor(look.unicode);
  const { added, removed } = diffSize(change.diff);
  const moved = change.movePath === undefined ? "" : ` ${marks.arrow} ${shownPath(change.movePath, cwd)}`;
  return [
    span(`${shownPath(change.path, cwd)}${moved}`, "bold"),
    ...(added === 0 ? [] : [span(` +${added}`, "green")]),
    ...(removed === 0 ? [] : [span(` ${marks.minus}${removed}`, "red")]),
  ];
}
