export * from "./control.ts";
export * from "./frames.ts";
