export { JsonlStore, type JsonlStoreOptions } from "./jsonl-store.ts";
export { MemoryStore } from "./memory-store.ts";
