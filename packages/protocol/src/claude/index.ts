export * from "./blocks.ts";
export * from "./control.ts";
export * from "./frames.ts";
export * from "./lines.ts";
