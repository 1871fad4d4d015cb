export { type DrawnFrame, drawFirstFrame, type FirstFrame } from "./first-frame.ts";
export type { StartingPlace } from "./starting-rows.ts";
