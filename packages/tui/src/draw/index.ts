export { notice } from "./draw-blocks.ts";
export { drawApproval } from "./draw-row.ts";
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
  styled,
  textOf,
  textWidth,
  wrapLine,
} from "./line.ts";
export { canMoveCursor, type Look, marksFor, readLook } from "./look.ts";
export { Timeline } from "./timeline.ts";
export { statusLine, summaryBlock, type TurnEnd, TurnTally } from "./turn-status.ts";
