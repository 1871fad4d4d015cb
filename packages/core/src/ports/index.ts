export * from "./checkpoints.ts";
export * from "./clock.ts";
export * from "./driver.ts";
export * from "./policy-rules.ts";
export * from "./rules.ts";
export * from "./sandbox.ts";
export * from "./store.ts";
export * from "./workspaces.ts";
