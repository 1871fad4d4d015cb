import { isRecord } from "@flint/protocol";
import type { RedisStore } from "../store/redis/redis-store.ts";

/** A worker as others see it. */
export interface WorkerRow {
  readonly name: string;
  readonly version: string;
  readonly pools: readonly string[];
  readonly labels: readonly string[];
  readonly concurrency: number;
  readonly load: number;
  readonly draining: boolean;
  /** Tells a worker from another one of the same name. */
  readonly instance: string;
}

/** Whether a worker offers everything that a task asks for. */
export function offers({ labels }: Pick<WorkerRow, "labels">, asked: readonly string[] = []): boolean {
  return asked.every((label) => labels.includes(label));
}

/** How long a worker that fell silent still counts as there. */
const ALIVE_MS = 10_000;

/** Which workers there are. Each keeps its own entry alive. */
export class WorkerRegistry {
  readonly #store: RedisStore;

  constructor(store: RedisStore) {
    this.#store = store;
  }

  /** Enters a worker or renews its entry; false if another worker of this name is alive. */
  async keep(worker: WorkerRow): Promise<boolean> {
    const { connection: redis } = this.#store;
    const key = this.#key(worker.name);
    const value = JSON.stringify(worker);
    const taken = await redis.set(key, value, "PX", ALIVE_MS, "NX");
    if (taken !== "OK") {
      const present = readRow(await redis.get(key));
      if (present !== undefined && present.instance !== worker.instance) return false;
      await redis.set(key, value, "PX", ALIVE_MS);
    }
    await redis.sadd(this.#store.keys.workers, worker.name);
    return true;
  }

  async leave({ name }: Pick<WorkerRow, "name">): Promise<void> {
    const { connection: redis, keys } = this.#store;
    await redis.del(this.#key(name));
    await redis.srem(keys.workers, name);
  }

  /** Whether a worker of this name is there and takes more. */
  async isAvailable(name: string): Promise<boolean> {
    const row = readRow(await this.#store.connection.get(this.#key(name)));
    return row !== undefined && !row.draining;
  }

  async list(): Promise<WorkerRow[]> {
    const { connection: redis, keys } = this.#store;
    const names = (await redis.smembers(keys.workers)).sort();
    if (names.length === 0) return [];
    const values = await redis.mget(names.map((name) => this.#key(name)));
    return values.flatMap((value) => readRow(value) ?? []);
  }

  #key(name: string): string {
    return `${this.#store.keys.workers}:${name}`;
  }
}

function readRow(text: string | null): WorkerRow | undefined {
  // Expected: whatever others wrote there.
  try {
    const value: unknown = JSON.parse(text ?? "null");
    if (!isRecord(value) || typeof value.name !== "string" || typeof value.instance !== "string")
      return undefined;
    // The rest is only shown.
    const row = value as unknown as WorkerRow;
    return { ...row, pools: strings(value.pools), labels: strings(value.labels) };
  } catch {
    return undefined;
  }
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
