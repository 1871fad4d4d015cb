export * from "./checkpoints.ts";
export * from "./clock.ts";
export * from "./configuration.ts";
export * from "./driver.ts";
export * from "./grant-check.ts";
export * from "./sandbox.ts";
export * from "./steering.ts";
export * from "./store.ts";
export type { Tasks } from "./tasks.ts";
