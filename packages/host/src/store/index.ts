export { type FileSystem, type FolderEntry, NODE_FILES } from "./file-system.ts";
export { JsonlStore, type JsonlStoreOptions } from "./jsonl-store.ts";
export { type Lock, type LockAttempt, takeLock } from "./lock.ts";
export { MemoryStore } from "./memory-store.ts";
