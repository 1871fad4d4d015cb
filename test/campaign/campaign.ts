import { writeFileSync } from "node:fs";
import { isEnded, type TaskEvent, type TaskState } from "@flint/protocol";
import { AcceptedFile, RedisStore, TaskSigner } from "@flint/tasks/fleet";
import { type Cut, RedisServer, Relay, type TemporaryFolder } from "@flint/testkit";
import { Random } from "../../packages/tasks/src/testing/random.ts";
import type { Fault } from "./faults.ts";
import { type Invariant, judge } from "./invariants.ts";
import { Ledger } from "./ledger.ts";
import { ServerProcess } from "./processes/server-process.ts";
import { NAMESPACE, POISON } from "./processes/worker-order.ts";
import {
  buildPrograms,
  type CampaignPrograms,
  realEnvironment,
  WorkerProcess,
} from "./processes/worker-process.ts";
import { judgeReviews } from "./real-tasks.ts";
import { CampaignRepository } from "./refs.ts";

/** Options of a campaign. */
export interface CampaignOptions {
  readonly tasks: number;
  readonly workers: number;
  /** Number of tasks that kill every worker that runs them. */
  readonly poison?: number | undefined;
  /**
   * The agents that work in a repository: scripted ones, or the real Claude and Codex. Runs only take their
   * time if absent.
   */
  readonly agents?: "scripted" | "real" | undefined;
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly folder: TemporaryFolder;
  onProgress?(line: string): void;
}

/** Duration of leases and of a run's work. Real agents keep this machine busy, so renewals may come late. */
const TIMES = {
  none: { leaseMs: 1500, workMs: 100, patienceMs: 60_000 },
  scripted: { leaseMs: 1500, workMs: 100, patienceMs: 60_000 },
  real: { leaseMs: 6000, workMs: 5000, patienceMs: 600_000 },
} as const;
const OUTAGE_MS = 1000;
const LONG_OUTAGE_MS = 30_000;
const LOOK_MS = 200;

/** Plays a campaign and judges it. Rejects if it comes to a halt. */
export async function playCampaign(options: CampaignOptions): Promise<Invariant[]> {
  const { folder } = options;
  const redis = await RedisServer.start({
    ...{ folder: folder.join("redis"), args: ["--appendfsync", "always"] },
  });
  const relay = await Relay.open(folder.join("relay.sock"), redis.url.replace("unix:", ""));
  const watcher = await RedisStore.open({ url: redis.url, namespace: NAMESPACE, version: "0" });
  const programs = await buildPrograms(folder.join("program"));
  const repository =
    options.agents !== undefined ? await CampaignRepository.make(folder.join("place", "repo")) : undefined;
  const campaign = new Campaign(options, { programs, redis, relay, watcher, repository });
  try {
    return await campaign.play();
  } finally {
    await campaign.end();
    await watcher.close();
    relay.close();
    await redis.kill();
  }
}

/** Options of a campaign. */
interface CampaignParts {
  readonly programs: CampaignPrograms;
  readonly redis: RedisServer;
  /** Between the workers and Redis. */
  readonly relay: Relay;
  /** Observes the fate of the tasks. */
  readonly watcher: RedisStore;
  readonly repository: CampaignRepository | undefined;
}

/**
 * A fleet on a Redis of its own: tasks are added while workers, the server and Redis are killed and stopped, while the
 * network is cut, and while Redis loses its data. Everything is real but the work itself.
 */
class Campaign {
  readonly #options: CampaignOptions;
  readonly #parts: CampaignParts;
  readonly #random: Random;
  /** Duration of leases and work, and the time after which waiting for an expected event is given up. */
  readonly #times: (typeof TIMES)[keyof typeof TIMES];
  readonly #ledger: string;
  readonly #accepted: string;
  readonly #signingKey = TaskSigner.generate();
  /** The tasks as they were last seen, also after Redis has lost those that have ended. */
  readonly #states = new Map<string, TaskState>();
  readonly #workers = new Map<string, WorkerProcess>();
  readonly #starting = new Set<Promise<void>>();
  readonly #acknowledged: string[] = [];
  #server: Promise<ServerProcess>;
  #names = 0;
  #flushes = 0;
  #isOver = false;

  constructor(options: CampaignOptions, parts: CampaignParts) {
    this.#options = options;
    this.#parts = parts;
    this.#random = new Random(options.seed);
    this.#times = TIMES[options.agents ?? "none"];
    this.#ledger = options.folder.join("ledger");
    this.#accepted = options.folder.join("accepted.jsonl");
    writeFileSync(this.#ledger, "");
    parts.watcher.subscribe(({ state }) => this.#states.set(state.id, state));
    this.#server = this.#startServer();
  }

  async play(): Promise<Invariant[]> {
    const { workers, tasks, faults } = this.#options;
    for (let index = 0; index < workers; index += 1) this.#startWorker();
    for (const [index, fault] of faults.entries()) {
      const share = Math.ceil((tasks * (index + 1)) / faults.length);
      const adding = this.#addUpTo(share);
      await Promise.all([adding, this.#cause(fault, adding)]);
      if ((index + 1) % 10 === 0) this.#notify(index + 1);
    }
    await this.#addUpTo(tasks);
    await this.#until("every task has ended or asks", () => this.#isSettled());
    await Promise.all(this.#starting);
    const logs = await this.#logs();
    const invariants = judge({
      ...{ acknowledged: this.#acknowledged, logs, leaseMs: this.#times.leaseMs },
      ...{ ledger: new Ledger(this.#ledger).read(), flushes: this.#flushes },
      awayMs: faults.includes("outage") ? LONG_OUTAGE_MS : 0,
    });
    const { repository } = this.#parts;
    if (repository === undefined) return invariants;
    const reviews = this.#options.agents === "real" ? [judgeReviews(logs)] : [];
    return [...invariants, await repository.judge(logs), ...reviews];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#workers.values()].map((worker) => worker.kill()));
    await (await this.#server).kill();
  }

  /** The logs of the acknowledged tasks, from the server's own copy: Redis may have lost those that have ended. */
  async #logs(): Promise<ReadonlyMap<string, readonly TaskEvent[]>> {
    await (await this.#server).check();
    const file = await AcceptedFile.open(this.#accepted);
    file.close();
    return file.stored;
  }

  async #addUpTo(count: number): Promise<void> {
    const [from, { length }] = [this.#acknowledged.length, { length: count - this.#acknowledged.length }];
    const added = Array.from({ length }, (_, index) => this.#add(this.#titleOf(from + index)));
    this.#acknowledged.push(...(await Promise.all(added)));
  }

  /** The first tasks kill their workers, if that is wanted. */
  #titleOf(index: number): string {
    return `${index < (this.#options.poison ?? 0) ? POISON : "task"}-${index}`;
  }

  /** Adds a task, again if the server ended before it acknowledged that. */
  async #add(key: string): Promise<string> {
    for (;;) {
      const id = await (await this.#server).add(key);
      if (id !== undefined) return id;
    }
  }

  async #cause(fault: Fault, adding: Promise<void>): Promise<void> {
    const { redis, relay, watcher } = this.#parts;
    const { leaseMs, workMs } = this.#times;
    const beyondLease = leaseMs + this.#random.below(leaseMs);
    switch (fault) {
      case "redis":
      case "outage":
        await redis.kill();
        await this.#pass(fault === "outage" ? LONG_OUTAGE_MS : this.#random.below(OUTAGE_MS));
        return redis.start();
      case "redisStop":
        redis.pause();
        await this.#pass(beyondLease);
        return redis.resume();
      case "cut":
        relay.cut(this.#random.pick<Cut>(["closed", "silent"]));
        await this.#pass(beyondLease);
        return relay.mend();
      case "server":
        return this.#killServer();
      case "serverStop": {
        const server = await this.#server;
        server.stop();
        await this.#pass(beyondLease);
        return server.resume();
      }
    }
    await adding;
    const victim = await this.#victim();
    // Anywhere in the work of its runs.
    await this.#pass(this.#random.below(workMs));
    if (fault === "kill") await victim.kill();
    else if (fault === "stop") {
      victim.stop();
      await this.#pass(beyondLease);
      victim.resume();
    } else {
      this.#flushes += 1;
      await watcher.connection.flushall();
    }
  }

  async #killServer(): Promise<void> {
    const killed = await this.#server;
    // From now on, what is asked is asked of the next one.
    this.#server = killed.kill().then(() => this.#startServer());
    await this.#server;
  }

  /** By chance a worker that is at work now; any worker if there is no work left. */
  async #victim(): Promise<WorkerProcess> {
    const candidates = () => {
      const names = new Set([...this.#states.values()].map(({ run }) => run?.worker));
      return [...this.#workers.values()].filter(({ name }) => names.has(name) || this.#isSettled());
    };
    await this.#until("a worker has a run", () => candidates().length > 0);
    const [first, ...others] = candidates();
    if (first === undefined) throw new Error("The worker is gone.");
    return this.#random.pick([first, ...others]);
  }

  /** Reports whether every task that was acknowledged has ended or asks. */
  #isSettled(): boolean {
    return this.#acknowledged.every((id) => {
      const state = this.#states.get(id);
      return state !== undefined && (isEnded(state) || state.phase === "asking");
    });
  }

  #startServer(): Promise<ServerProcess> {
    const { redis, repository, programs } = this.#parts;
    const kept = { accepted: this.#accepted, signingKey: this.#signingKey, repository: repository?.path };
    const isReal = this.#options.agents === "real";
    const order = { url: redis.url, leaseMs: this.#times.leaseMs, isReal, ...kept };
    return ServerProcess.start(programs.server, order).catch((thrown: unknown) => {
      // Expected: Redis was killed in that moment.
      if (this.#isOver) throw thrown;
      return this.#startServer();
    });
  }

  #startWorker(): void {
    this.#names += 1;
    const { programs, relay, repository } = this.#parts;
    const { publicKey: key } = TaskSigner.fromPem(this.#signingKey);
    const order = { url: relay.url, name: `w${this.#names}`, key, ledger: this.#ledger };
    const place = repository === undefined ? undefined : this.#options.folder.join("place");
    const { leaseMs, workMs } = this.#times;
    const [program, environment] = this.#workerProgram(programs);
    const starting = WorkerProcess.start(program, { ...order, place, leaseMs, workMs }, environment).then(
      (worker) => this.#onStarted(worker),
      // Expected: Redis was killed, or the network cut, in that moment.
      () => this.#startWorker(),
    );
    this.#starting.add(starting);
    void starting.finally(() => this.#starting.delete(starting));
  }

  #workerProgram(programs: CampaignPrograms): readonly [path: string, environment?: NodeJS.ProcessEnv] {
    switch (this.#options.agents) {
      case undefined:
        return [programs.worker];
      case "scripted":
        return [programs.agentWorker];
      case "real":
        return [programs.realWorker, realEnvironment(this.#options.folder)];
    }
  }

  /** Whatever ends a worker, another one takes its place. */
  #onStarted(worker: WorkerProcess): void {
    this.#workers.set(worker.name, worker);
    void worker.exited.then(() => {
      this.#workers.delete(worker.name);
      if (!this.#isOver) this.#startWorker();
    });
  }

  /** Resolves once it is so. Looks now and then too, because a loss of data is no change of a task. */
  async #until(what: string, isSo: () => boolean): Promise<void> {
    const { patienceMs } = this.#times;
    const deadline = Date.now() + patienceMs;
    while (!isSo()) {
      if (Date.now() > deadline)
        throw new Error(`Waited ${patienceMs / 1000} s in vain until ${what}: ${phases(this.#states)}.`);
      await this.#change();
      await this.#parts.watcher.list();
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
      const stop = this.#parts.watcher.subscribe(done);
    });
  }

  #pass(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  #notify(faults: number): void {
    const { onProgress, faults: all } = this.#options;
    onProgress?.(`${faults} of ${all.length} faults, ${phases(this.#states)}`);
  }
}

/** The number of tasks that are in each phase, as text. */
function phases(states: ReadonlyMap<string, TaskState>): string {
  const counts = new Map<string, number>();
  for (const { phase } of states.values()) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].map(([phase, count]) => `${count} ${phase}`).join(", ") || "no tasks";
}
