export { type FileSystem, type FolderEntry, NODE_FILES } from "./files/file-system.ts";
export { type Lock, type LockAttempt, takeLock } from "./files/lock.ts";
export { JsonlStore, type JsonlStoreOptions } from "./jsonl-store.ts";
export { MemoryStore } from "./memory-store.ts";
