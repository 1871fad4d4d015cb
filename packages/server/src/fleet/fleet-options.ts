import type { WorkerCeiling } from "@flint/tasks/fleet";

/** The place for the tasks of several machines. */
export interface FleetOptions {
  /** The address of Redis. */
  readonly redis: string;
  /** Fleets with different namespaces share a Redis without knowing each other. */
  readonly namespace: string;
  /** The destination of task events for other programs. */
  readonly events?: EventStreamOptions | undefined;
  /** The public keys of others whose tasks are worked for; those of this machine always are. */
  readonly trusted?: readonly string[] | undefined;
  readonly leaseMs?: number | undefined;
  /** Time for which a task waits for the worker that has its thread before others may have it. */
  readonly affinityMs?: number | undefined;
}

/** The Redis stream of events: its key, and about how many it keeps. */
export interface EventStreamOptions {
  readonly stream?: string | undefined;
  readonly maxLength?: number | undefined;
}

/** The services that a worker offers, and the rights that it gives to tasks. */
export interface WorkerSettings extends FleetOptions {
  readonly name: string;
  readonly pools?: readonly string[] | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly concurrency: number;
  readonly ceiling: WorkerCeiling;
  /** The public keys of those whose tasks it runs. */
  readonly trusted: readonly string[];
  onReady(worker: RunningWorker): void;
  onFailed(error: unknown): void;
}

/** A worker that takes runs. */
export interface RunningWorker {
  /** Takes nothing more, lets what runs end within this time, and gives back the rest. */
  drain(milliseconds: number): Promise<void>;
  /** Resolves when somebody asks it to drain. */
  readonly drainRequested: Promise<void>;
}

export const LEASE_MS = 30_000;
export const AFFINITY_MS = 120_000;
/** Interval at which a server compares the tasks that it accepted with those in Redis. */
export const BACKUP_CHECK_MS = 5000;
