export { canSplit, diffLines, numberedDiff, splitDiff } from "./diff.ts";
export { notice } from "./draw-blocks.ts";
export { drawApproval, drawRow, type RowContext } from "./draw-row.ts";
export { drawThread } from "./draw-thread.ts";
export {
  cellsOf,
  cutLine,
  type Line,
  type LineBlock,
  lineOf,
  linesOf,
  type Span,
  screenRows,
  span,
  textOf,
  textWidth,
  wrapLine,
} from "./line.ts";
export { markdownLines, markdownRows } from "./markdown.ts";
export { canMoveCursor, marksFor, type RenderOptions, readLook } from "./render-options.ts";
export { StreamedMarkdown } from "./streamed-markdown.ts";
export { styled } from "./styled.ts";
export { Timeline } from "./timeline.ts";
export { statusLine, summaryBlock, type TurnEnd, TurnTally } from "./turn-status.ts";
