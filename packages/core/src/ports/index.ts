export * from "./clock.ts";
export * from "./driver.ts";
export * from "./rules.ts";
export * from "./sandbox.ts";
export * from "./store.ts";
