export { ageOf, budget, count, duration, money, shortFolder, size, tokens } from "./amounts.ts";
export { type ApprovalChoice, type ApprovalPrompt, approvalPrompt } from "./approval.ts";
export { type Ask, asksOf, asksOfAll, type Waiting } from "./asks.ts";
export {
  type Control,
  type ControlChoice,
  type ControlContext,
  controlsOf,
  nextValue,
  problemWith,
} from "./controls.ts";
export {
  describeAction,
  describeError,
  describeItem,
  describePlan,
  describeReroute,
  describeResolution,
  ruleLine,
} from "./describe.ts";
export { escapeControls, escapeExact, oneLine } from "./escape.ts";
export { activityOf, changeVerb, rowOf } from "./items.ts";
export { LIMIT_COLUMNS, limitCells } from "./limits.ts";
export { answersOf, isAnswer, isYesOrNo, YES_OR_NO_HINT } from "./questions.ts";
export {
  type Block,
  type DiffBlock,
  type DiffLine,
  type Fold,
  type ImageBlock,
  type Row,
  type RowAction,
  type RowFamily,
  type RowStatus,
  rowText,
  type Span,
  spanText,
} from "./row.ts";
export { argumentWords, valueWords } from "./rows/calls.ts";
export { type DiffPair, diffBlock, diffBlocks, diffPairs } from "./rows/diff.ts";
export { type Folds, type LiveFacts, rowsOf } from "./rows/thread-rows.ts";
export { turnEndRow, workingTimeMs } from "./rows/turn-rows.ts";
export { transcript } from "./transcript.ts";
