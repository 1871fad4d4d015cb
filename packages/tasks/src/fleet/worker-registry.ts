import { isRecord, WorkerRow } from "@flint/protocol";
import type { RedisStore } from "../store/redis/redis-store.ts";

/** A worker as its entry describes it. */
export interface WorkerEntry extends WorkerRow {
  /** Tells a worker from another one of the same name. */
  readonly instance: string;
}

/** Reports whether a worker offers everything that a task asks for. */
export function matchesWorker({ labels }: Pick<WorkerRow, "labels">, asked: readonly string[] = []): boolean {
  return asked.every((label) => labels.includes(label));
}

/** Time for which a worker that fell silent still counts as present. */
const ALIVE_MS = 10_000;

/** The present workers. Each keeps its own entry alive. */
export class WorkerRegistry {
  readonly #store: RedisStore;

  constructor(store: RedisStore) {
    this.#store = store;
  }

  /** Enters a worker or renews its entry; false if another worker of this name is alive. */
  async keep(worker: WorkerEntry): Promise<boolean> {
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
    await redis.hdel(keys.drains, name);
  }

  /** Asks a worker to drain, which it does within a few seconds; undefined if there is none of this name. */
  async drain(name: string): Promise<WorkerEntry | undefined> {
    const { connection: redis, keys } = this.#store;
    const present = readRow(await redis.get(this.#key(name)));
    // Only this one: the next worker of the same name takes tasks again.
    if (present !== undefined) await redis.hset(keys.drains, name, present.instance);
    return present;
  }

  /** Reports whether a worker has been requested to drain. */
  async isToDrain({ name, instance }: Pick<WorkerEntry, "name" | "instance">): Promise<boolean> {
    return (await this.#store.connection.hget(this.#store.keys.drains, name)) === instance;
  }

  /** Reports whether a worker of this name is present and takes more tasks. */
  async isAvailable(name: string): Promise<boolean> {
    const row = readRow(await this.#store.connection.get(this.#key(name)));
    return row !== undefined && !row.draining;
  }

  async list(): Promise<WorkerEntry[]> {
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

function readRow(text: string | null): WorkerEntry | undefined {
  // Expected: whatever others wrote there.
  try {
    const value: unknown = JSON.parse(text ?? "null");
    const row = WorkerRow.safeParse(value);
    const isEntry = row.success && isRecord(value) && typeof value.instance === "string";
    return isEntry ? { ...row.data, instance: String(value.instance) } : undefined;
  } catch {
    return undefined;
  }
}
