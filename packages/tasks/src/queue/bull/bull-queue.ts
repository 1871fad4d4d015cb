import { isRecord } from "@flint/protocol";
import type { Job, JobsOptions, Queue, Worker, WorkerOptions } from "bullmq";
import type { Redis } from "ioredis";
import { endConnection, openConnection } from "../../store/redis/redis-connection.ts";
import { type QueuedRun, type RunName, type RunQueue, type RunTaker, runKey } from "../run-queue.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

/** Dependencies of a queue on BullMQ. */
export interface BullQueueOptions {
  readonly url: string;
  readonly namespace: string;
  /**
   * Time within which BullMQ expects a sign of life of a worker. A job that stalls is failed, never run
   * again.
   */
  readonly lockMs?: number | undefined;
  onProblem?(message: string): void;
}

type Bull = typeof import("bullmq");

const LOCK_MS = 30_000;
const HIGHEST_PRIORITY = 101;
/** The jobs that dashboards show after their end. */
const STORED_JOBS = 1000;
/** The minutes of metrics that BullMQ keeps: two weeks. */
const METRICS_MINUTES = 14 * 24 * 60;

/**
 * Runs as jobs of plain BullMQ queues, one for each pool. A job holds ids only, is tried once, and is failed if its
 * worker falls silent: the fate of a lost run is decided from the store, never from the state of a job.
 */
export class BullQueue implements RunQueue {
  readonly #bull: Bull;
  readonly #redis: Redis;
  readonly #options: BullQueueOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #takers = new Set<RunTaker>();

  private constructor(bull: Bull, redis: Redis, options: BullQueueOptions) {
    this.#bull = bull;
    this.#redis = redis;
    this.#options = options;
  }

  static async open(options: BullQueueOptions): Promise<BullQueue> {
    const [bull, redis] = await Promise.all([import("bullmq"), openConnection(options.url)]);
    return new BullQueue(bull, redis, options);
  }

  async put(run: QueuedRun): Promise<void> {
    const queue = this.#queue(run.pool);
    const jobId = runKey(run);
    const { task, fence, priority, delayMs } = run;
    // A job of this name that has ended would keep the new one out.
    const state = await queue.getJobState(jobId);
    if (state === "completed" || state === "failed") await queue.remove(jobId);
    const options: JobsOptions = {
      jobId,
      attempts: 1,
      priority: HIGHEST_PRIORITY - priority,
      ...(delayMs === undefined ? {} : { delay: delayMs }),
      removeOnComplete: { count: STORED_JOBS },
      removeOnFail: { count: STORED_JOBS },
    };
    await queue.add("run", { task, fence }, options);
  }

  take(pools: readonly string[], concurrency: number, handler: Parameters<RunQueue["take"]>[2]): RunTaker {
    const slots = new ConcurrencyLimit(concurrency);
    const lockDuration = this.#options.lockMs ?? LOCK_MS;
    const settings: WorkerOptions = {
      ...{ connection: this.#redis, prefix: this.#prefix, concurrency, lockDuration },
      ...{ maxStalledCount: 0, stalledInterval: Math.ceil(lockDuration / 2), drainDelay: 5 },
      metrics: { maxDataPoints: METRICS_MINUTES },
    };
    const process = async ({ data }: Job): Promise<void> => {
      const run = readJob(data);
      if (run !== undefined) await slots.use(() => handler(run));
    };
    const workers = pools.map((pool) => this.#worker(pool, process, settings));
    // While all slots are taken, other workers may have what waits.
    slots.onFull = () => void Promise.all(workers.map((worker) => worker.pause(true)));
    slots.onFree = () => {
      for (const worker of workers) void worker.resume();
    };
    const taker: RunTaker = {
      close: async () => {
        this.#takers.delete(taker);
        slots.onFree = () => {};
        await Promise.all(workers.map((worker) => worker.close()));
      },
    };
    this.#takers.add(taker);
    return taker;
  }

  async remove(run: RunName): Promise<void> {
    // BullMQ leaves a job alone that is being handled.
    await this.#queue(run.pool).remove(runKey(run));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#takers].map((taker) => taker.close()));
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    this.#redis.disconnect();
  }

  /** Ends the connection at once; what waits for an answer fails. */
  disconnect(): void {
    endConnection(this.#redis);
  }

  get #prefix(): string {
    return `flint:{${this.#options.namespace}}:bull`;
  }

  #queue(pool: string): Queue {
    const known = this.#queues.get(pool);
    if (known !== undefined) return known;
    const queue = new this.#bull.Queue(queueName(pool), { connection: this.#redis, prefix: this.#prefix });
    queue.on("error", (error) => this.#options.onProblem?.(error.message));
    this.#queues.set(pool, queue);
    return queue;
  }

  #worker(pool: string, process: (job: Job) => Promise<void>, settings: WorkerOptions): Worker {
    const worker = new this.#bull.Worker(queueName(pool), process, settings);
    worker.on("error", (error) => this.#options.onProblem?.(error.message));
    return worker;
  }
}

/** The name of a pool's queue: `runs-default` for most. */
function queueName(pool: string): string {
  return `runs-${encodeURIComponent(pool)}`;
}

function readJob(data: unknown): Pick<QueuedRun, "task" | "fence"> | undefined {
  if (!isRecord(data) || typeof data.task !== "string" || typeof data.fence !== "number") return undefined;
  return { task: data.task, fence: data.fence };
}
