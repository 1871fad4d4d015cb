export { type DrawnFrame, drawFirstFrame, type FirstFrame } from "./first-frame.ts";
export type { StartingFolder } from "./starting-rows.ts";
