import { errorMessage, mintId, type TaskEvent, type TaskSpec, type TaskState } from "@flint/protocol";
import { asking, type DecisionContext, type Events, event } from "../decide/decision.ts";
import { DEFAULT_POOL, poolOfWorker, type RunQueue, type RunTaker } from "../queue/run-queue.ts";
import type { TaskWorkspaces } from "../run/task-workspaces.ts";
import { LeasedRun, type LeasedRunOptions } from "../service/leased-run.ts";
import type { SteerOutcome } from "../service/steering.ts";
import type { RedisStore } from "../store/redis/redis-store.ts";
import { type After, afterTimeout, doneWhileAnswering } from "../store/redis/silence.ts";
import type { Lease, TaskChange } from "../store/task-store.ts";
import { ceilingViolation, isInFolders, type WorkerCeiling } from "./ceiling.ts";
import { Fences } from "./fences.ts";
import { LiveSteers } from "./live-steers.ts";
import { unverifiedReason } from "./task-signature.ts";
import { matchesWorker, type WorkerEntry, type WorkerRegistry } from "./worker-registry.ts";

/** The dependencies of a worker of a fleet. */
export interface FleetWorkerOptions extends Omit<LeasedRunOptions, "store"> {
  readonly store: RedisStore;
  readonly queue: RunQueue;
  readonly workers: WorkerRegistry;
  readonly workspaces: Pick<TaskWorkspaces, "prepare" | "remotes">;
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly pools?: readonly string[] | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly concurrency: number;
  readonly ceiling: WorkerCeiling;
  /** The public keys whose tasks it runs. */
  readonly trusted: ReadonlySet<string>;
  /** The fences that it has run tasks under; remembered in memory only if absent. */
  readonly fences?: Fences | undefined;
  readonly context: () => DecisionContext;
  /** Called with every heartbeat after somebody has asked this worker to drain. */
  onDrain?(): void;
  /** Runs an action after a delay; the returned function cancels it. A timer of the system if absent. */
  readonly after?: After | undefined;
  /** Sends a message into the turn that runs for a task here. */
  steer?(state: TaskState, content: string): Promise<SteerOutcome>;
}

const HEARTBEAT_MS = 2000;
const NAME_TRIES = 8;

/** Takes runs from the queue, as many at once as it may, and carries each out under a lease of its own. */
export class FleetWorker {
  readonly #options: FleetWorkerOptions;
  readonly #running = new Map<string, LeasedRun>();
  readonly #fences: Fences;
  readonly #instance = mintId();
  #taker: RunTaker | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  /** One after the other, so that the last one is known. */
  #lastBeat: Promise<void> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;
  #isDraining = false;
  /** Called when the last of the running tasks has ended. */
  #onIdle: () => void = () => {};

  readonly #steers: LiveSteers | undefined;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    this.#fences = options.fences ?? new Fences();
    const { steer } = options;
    if (steer !== undefined)
      this.#steers = new LiveSteers(options.store, (state, content) => steer(state, content));
  }

  /** Begins to take runs. Rejects if another worker has its name. */
  async start(): Promise<void> {
    const { queue, store, pools = [DEFAULT_POOL], name, concurrency } = this.#options;
    await this.#claimName();
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#unsubscribe = store.subscribe((change) => this.#onChange(change));
    this.#taker = queue.take([poolOfWorker(name), ...pools], concurrency, ({ task }) => this.#take(task));
  }

  /** The number of tasks that run here. */
  get load(): number {
    return this.#running.size;
  }

  /** Takes nothing more and lets what runs come to its end, but not longer than this; then it is given back. */
  async drain(milliseconds: number): Promise<void> {
    const { store, after = afterTimeout, onProblem } = this.#options;
    this.#isDraining = true;
    this.#beat();
    const left = Promise.resolve(this.#taker?.close()).then(() => this.#leave());
    let cancel = () => {};
    const stopped = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      cancel = after(milliseconds, () => {
        for (const run of this.#running.values()) run.stop("The worker stops.");
        resolve();
      });
    });
    if (this.load > 0) await stopped;
    if (!(await doneWhileAnswering(store.connection, left, after))) onProblem(this.#unfinished());
    else await left;
    cancel();
    this.#unsubscribe?.();
    clearInterval(this.#heartbeat);
  }

  /** Takes the worker off the list, where a heartbeat that comes later would put it back. */
  async #leave(): Promise<void> {
    clearInterval(this.#heartbeat);
    await this.#lastBeat;
    await this.#options.workers.leave(this.#options);
  }

  /** Says what a worker leaves behind whose Redis does not answer. */
  #unfinished(): string {
    const { name, leaseMs } = this.#options;
    const tasks = [...this.#running.keys()];
    const given =
      tasks.length === 0
        ? ""
        : ` ${tasks.join(", ")}: not given back. Others may have them once their leases have ended, after ${leaseMs / 1000} s.`;
    return `Redis does not answer: worker ${name} has stopped, and is listed for some seconds more.${given}`;
  }

  async #claimName(): Promise<void> {
    for (let attempt = 1; !(await this.#options.workers.keep(this.#row())); attempt += 1) {
      if (attempt === NAME_TRIES)
        throw new Error(
          `Another worker named ${this.#options.name} is running. Choose another name with --name.`,
        );
      // The entry of a killed worker expires.
      await new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS));
    }
  }

  #beat(): void {
    this.#lastBeat = this.#lastBeat.then(() => this.#keepListed());
  }

  /** Never rejects. */
  async #keepListed(): Promise<void> {
    const { workers } = this.#options;
    const row = this.#row();
    const isToDrain = await workers
      .keep(row)
      .then(() => workers.isToDrain(row))
      // Expected: Redis is away; the entry is renewed when it is back.
      .catch(() => false);
    if (isToDrain && !row.draining) this.#options.onDrain?.();
  }

  #row(): WorkerEntry {
    const { name, version, pools = [DEFAULT_POOL], labels = [], concurrency } = this.#options;
    const [load, draining, instance] = [this.load, this.#isDraining, this.#instance];
    return {
      ...{ name, version, pools: [...pools], labels: [...labels] },
      ...{ concurrency, load, draining, instance },
    };
  }

  /** A task that was cancelled or suspended, or whose lease is void, is stopped at once. */
  #onChange(change: TaskChange): void {
    const { state } = change;
    const run = this.#running.get(state.id);
    if (state.run?.worker !== this.#options.name) run?.stop();
    else if (run !== undefined) this.#steers?.onChange(change);
  }

  async #take(task: string): Promise<void> {
    const { store, name, leaseMs, onProblem } = this.#options;
    if (this.#isDraining || this.#running.has(task)) return;
    // Expected: Redis is away, or the task is not what it has to be; it stays ready and is offered again.
    try {
      // Sent together; how a task was added never changes.
      const [lease, added] = await Promise.all([store.lease(task, name, leaseMs), store.added(task)]);
      if (lease === undefined) return;
      const state = leasedState(store.known(task), lease) ?? (await store.read(task));
      if (state === undefined) return;
      const run = new LeasedRun({ ...this.#options, run: (...given) => this.#run(added, ...given) }, lease);
      this.#running.set(task, run);
      await run.work(state).finally(() => this.#running.delete(task));
      if (this.load === 0) this.#onIdle();
    } catch (thrown) {
      onProblem(errorMessage(thrown));
    }
  }

  async #run(
    added: TaskEvent | undefined,
    lease: Lease,
    state: TaskState,
    signal: AbortSignal,
  ): Promise<void> {
    if (!matchesWorker(this.#row(), state.spec.labels)) {
      const reason = `Worker ${this.#options.name} does not offer ${state.spec.labels?.join(", ")}.`;
      await this.#commit(lease, state, [event("run/released", { reason })]);
      return;
    }
    const problem = await this.#problemOf(lease, state, added);
    if (problem !== undefined) {
      await this.#commit(lease, state, [asking(this.#options.context(), "place", problem)]);
      return;
    }
    this.#fences.remember(lease.task, lease.fence);
    const own = await this.#withOwnFolder(lease, state);
    if (own !== undefined && !signal.aborted) await this.#options.run(lease, own, signal);
  }

  /** Returns the reason this worker does not run a task. */
  async #problemOf(
    { task, fence }: Lease,
    state: TaskState,
    added: TaskEvent | undefined,
  ): Promise<string | undefined> {
    const { name, ceiling } = this.#options;
    const { spec } = state;
    const forged = unverifiedReason(state, added, this.#options);
    if (forged !== undefined) return `Worker ${name} does not run it. ${forged}`;
    if (fence <= this.#fences.highest(task))
      return `Worker ${name} does not run it: it has run it under a later fence, so somebody has put back an old state.`;
    if (state.mergeAs !== undefined)
      return `Worker ${name} does not run it: it is to be merged by ${state.mergeAs}, which is not signed.`;
    const beyond = ceilingViolation(spec, ceiling, await this.#remotesOf(spec));
    return beyond === undefined ? undefined : `Worker ${name} does not let a task ${beyond}.`;
  }

  /** The remotes that the repository of a task has on this machine, if it may be used. */
  async #remotesOf(spec: TaskSpec): Promise<readonly string[]> {
    const { ceiling, workspaces } = this.#options;
    return spec.remote === undefined || !isInFolders(spec, ceiling) ? [] : workspaces.remotes(spec.cwd);
  }

  /** The folder of another worker is never used: its agents may still write there. */
  async #withOwnFolder(lease: Lease, state: TaskState): Promise<TaskState | undefined> {
    if (state.folder === undefined) return state;
    const prepared = await this.#options.workspaces.prepare(state);
    if (prepared.kind === "prepared" && prepared.folder === state.folder) return state;
    const events: Events =
      prepared.kind === "prepared"
        ? [event("round/prepared", { base: prepared.base, folder: prepared.folder })]
        : [asking(this.#options.context(), "place", prepared.message)];
    const written = await this.#commit(lease, state, events);
    // Somebody may have written another one since then.
    const isOwn = prepared.kind === "prepared" && prepared.folder === written?.folder;
    return isOwn ? written : undefined;
  }

  async #commit(lease: Lease, state: TaskState, events: Events): Promise<TaskState | undefined> {
    const written = await this.#options.store.commit({
      task: state.id,
      expect: state.version,
      lease,
      events,
    });
    return written.status === "ok" && written.state.run?.leaseId === lease.id ? written.state : undefined;
  }
}

/** A state that is known already, if it is the one under this lease. */
function leasedState(state: TaskState | undefined, { id }: Lease): TaskState | undefined {
  return state?.run?.leaseId === id ? state : undefined;
}
