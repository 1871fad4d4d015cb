export type { ClientSession } from "./client-session.ts";
export { Engine } from "./engine.ts";
export * from "./ports/index.ts";
export type { EngineOptions } from "./services.ts";
export type { Follower } from "./subscription.ts";
