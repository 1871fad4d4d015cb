export { count, duration, money, size, tokens } from "./amounts.ts";
export { type ApprovalChoice, type ApprovalPrompt, approvalPrompt } from "./approval.ts";
export {
  describeAction,
  describeError,
  describeItem,
  describePlan,
  describeReroute,
  describeResolution,
  valueWords,
} from "./describe.ts";
export { escapeControls, escapeExact } from "./escape.ts";
export { activityOf, changeVerb, rowOf, rowsOf } from "./items.ts";
export {
  type Block,
  type DiffLine,
  diffBlock,
  type Row,
  type RowFamily,
  type RowStatus,
  type Span,
  spanText,
} from "./row.ts";
export { transcript } from "./transcript.ts";
