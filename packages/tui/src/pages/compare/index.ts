export {
  areComparable,
  canBeKept,
  changesIn,
  keepResult,
  namesIn,
  startComparison,
} from "./comparison.ts";
export { belowEachOther, sideBySide } from "./side-by-side.ts";
