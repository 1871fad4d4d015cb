export { Glob } from "./glob.ts";
export { IgnoreRules } from "./ignore-rules.ts";
