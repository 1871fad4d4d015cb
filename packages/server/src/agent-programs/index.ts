export { installAgent, type RunInstaller, removeAgent } from "./install.ts";
export { type InstalledAgent, installedAgent } from "./installed.ts";
