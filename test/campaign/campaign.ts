import { writeFileSync } from "node:fs";
import { isEnded, type TaskState } from "@flint/protocol";
import { RedisServer, type TemporaryFolder } from "@flint/testkit";
import { Random } from "../../packages/tasks/src/testing/random.ts";
import { AddingServer } from "./adding-server.ts";
import type { Fault } from "./faults.ts";
import { type Invariant, judge } from "./invariants.ts";
import { Ledger } from "./ledger.ts";
import { buildWorker, WorkerProcess } from "./worker-process.ts";

/** How a campaign is played. */
export interface CampaignOptions {
  readonly tasks: number;
  readonly workers: number;
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly folder: TemporaryFolder;
  onProgress?(line: string): void;
}

const LEASE_MS = 1500;
const WORK_MS = 100;
const OUTAGE_MS = 1000;
const LOOK_MS = 200;
/** How long a campaign waits for something that has to happen before it is given up. */
const PATIENCE_MS = 60_000;

/** Plays a campaign and judges it. Rejects if it comes to a halt. */
export async function playCampaign(options: CampaignOptions): Promise<Invariant[]> {
  const { folder } = options;
  const redis = await RedisServer.start({
    ...{ folder: folder.join("redis"), args: ["--appendfsync", "always"] },
  });
  const server = await AddingServer.open({
    ...{ url: redis.url, accepted: folder.join("accepted.jsonl"), leaseMs: LEASE_MS },
  });
  const program = await buildWorker(folder.join("program"));
  const campaign = new Campaign(options, program, redis, server);
  try {
    return await campaign.play();
  } finally {
    await campaign.end();
    await server.close();
    await redis.kill();
  }
}

/**
 * A fleet on a Redis of its own: tasks are added while workers are killed and stopped, and while Redis is killed or
 * loses its data. Everything is real but the work itself.
 */
class Campaign {
  readonly #options: CampaignOptions;
  readonly #random: Random;
  readonly #program: string;
  readonly #redis: RedisServer;
  readonly #server: AddingServer;
  readonly #ledger: string;
  readonly #workers = new Map<string, WorkerProcess>();
  readonly #starting = new Set<Promise<void>>();
  readonly #acknowledged: string[] = [];
  #names = 0;
  #flushes = 0;

  constructor(options: CampaignOptions, program: string, redis: RedisServer, server: AddingServer) {
    this.#options = options;
    this.#program = program;
    this.#random = new Random(options.seed);
    this.#redis = redis;
    this.#server = server;
    this.#ledger = options.folder.join("ledger");
    writeFileSync(this.#ledger, "");
  }

  async play(): Promise<Invariant[]> {
    const { workers, tasks, faults } = this.#options;
    for (let index = 0; index < workers; index += 1) this.#startWorker();
    for (const [index, fault] of faults.entries()) {
      const share = Math.ceil((tasks * (index + 1)) / faults.length);
      const adding = this.#addUpTo(share);
      await Promise.all([adding, this.#cause(fault, adding)]);
      if ((index + 1) % 10 === 0) this.#tell(index + 1);
    }
    await this.#addUpTo(tasks);
    await this.#until("every task has ended or asks", () => this.#isSettled());
    await Promise.all(this.#starting);
    return judge({
      ...{ acknowledged: this.#acknowledged, logs: await this.#server.logs() },
      ...{ ledger: new Ledger(this.#ledger).read(), flushes: this.#flushes, leaseMs: LEASE_MS },
    });
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#workers.values()].map((worker) => worker.kill()));
  }

  async #addUpTo(count: number): Promise<void> {
    const [from, { length }] = [this.#acknowledged.length, { length: count - this.#acknowledged.length }];
    const added = Array.from({ length }, (_, index) => this.#server.add(`task-${from + index}`));
    this.#acknowledged.push(...(await Promise.all(added)));
  }

  async #cause(fault: Fault, adding: Promise<void>): Promise<void> {
    if (fault === "redis") {
      await this.#redis.kill();
      await this.#pass(this.#random.below(OUTAGE_MS));
      await this.#redis.start();
      return;
    }
    await adding;
    const victim = await this.#victim();
    // Anywhere in the work of its runs.
    await this.#pass(this.#random.below(WORK_MS));
    if (fault === "kill") {
      this.#workers.delete(victim.name);
      await victim.kill();
      this.#startWorker();
    } else if (fault === "stop") {
      victim.stop();
      await this.#pass(LEASE_MS + this.#random.below(LEASE_MS));
      victim.resume();
    } else {
      this.#flushes += 1;
      await this.#server.store.connection.flushall();
    }
  }

  /** By chance a worker that is at work now; any worker if there is no work left. */
  async #victim(): Promise<WorkerProcess> {
    const candidates = () => {
      const names = new Set([...this.#server.states.values()].map(({ run }) => run?.worker));
      return [...this.#workers.values()].filter(({ name }) => names.has(name) || this.#isSettled());
    };
    await this.#until("a worker has a run", () => candidates().length > 0);
    const [first, ...others] = candidates();
    if (first === undefined) throw new Error("The worker is gone.");
    return this.#random.pick([first, ...others]);
  }

  /** Whether every task that was acknowledged has ended or asks. */
  #isSettled(): boolean {
    return this.#acknowledged.every((id) => {
      const state = this.#server.states.get(id);
      return state !== undefined && (isEnded(state) || state.phase === "asking");
    });
  }

  #startWorker(): void {
    this.#names += 1;
    const order = { url: this.#redis.url, name: `w${this.#names}`, key: this.#server.publicKey };
    const starting = WorkerProcess.start(this.#program, {
      ...{ ...order, ledger: this.#ledger, leaseMs: LEASE_MS, workMs: WORK_MS },
    }).then(
      (worker) => void this.#workers.set(worker.name, worker),
      // Expected: Redis was killed in that moment.
      () => this.#startWorker(),
    );
    this.#starting.add(starting);
    void starting.finally(() => this.#starting.delete(starting));
  }

  /** Resolves once it is so. Looks now and then too, because a loss of data is no change of a task. */
  async #until(what: string, isSo: () => boolean): Promise<void> {
    const { store, states } = this.#server;
    const deadline = Date.now() + PATIENCE_MS;
    while (!isSo()) {
      if (Date.now() > deadline)
        throw new Error(`Waited ${PATIENCE_MS / 1000} s in vain until ${what}: ${phases(states)}.`);
      await this.#change();
      await store.list();
    }
  }

  /** Resolves at the next change of a task, or after a while. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, LOOK_MS);
      const stop = this.#server.store.subscribe(done);
    });
  }

  #pass(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  #tell(faults: number): void {
    const { onProgress, faults: all } = this.#options;
    onProgress?.(`${faults} of ${all.length} faults, ${phases(this.#server.states)}`);
  }
}

/** How many tasks are in each phase, as text. */
function phases(states: ReadonlyMap<string, TaskState>): string {
  const counts = new Map<string, number>();
  for (const { phase } of states.values()) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].map(([phase, count]) => `${count} ${phase}`).join(", ") || "no tasks";
}
