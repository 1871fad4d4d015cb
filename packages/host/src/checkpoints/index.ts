export { FileCheckpoints, type FileCheckpointsOptions } from "./file-checkpoints.ts";
export { type CheckpointLimits, DEFAULT_LIMITS } from "./scan/workspace-scan.ts";
