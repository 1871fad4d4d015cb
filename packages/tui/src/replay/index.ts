export { playEvents, type ReplayOptions, ThreadReplay } from "./thread-replay.ts";
