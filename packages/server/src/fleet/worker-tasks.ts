import { join } from "node:path";
import type { Tasks } from "@flint/core/ports";
import { FlintError, mintId } from "@flint/protocol";
import type { CloneOf } from "@flint/tasks";
import type { FleetWorker } from "@flint/tasks/fleet";
import { runParts, type TaskParts } from "../task-parts.ts";
import { VERSION } from "../version.ts";
import { AFFINITY_MS, LEASE_MS, type RunningWorker, type WorkerSettings } from "./fleet-options.ts";

/** The task layer of a worker: it runs the tasks of a fleet with the engine of this process. */
export class WorkerTasks implements Tasks, RunningWorker {
  readonly #parts: TaskParts;
  readonly #settings: WorkerSettings;
  #worker: FleetWorker | undefined;
  #end: () => Promise<void> = async () => {};
  #draining: Promise<void> | undefined;
  #onDrain: () => void = () => {};
  readonly drainRequested = new Promise<void>((resolve) => {
    this.#onDrain = resolve;
  });

  constructor(parts: TaskParts, settings: WorkerSettings) {
    this.#parts = parts;
    this.#settings = settings;
  }

  /** Connects and begins to take runs; the settings' callbacks say how that went. */
  resume(): void {
    this.#start().then(
      () => this.#settings.onReady(this),
      (thrown: unknown) => this.#settings.onFailed(thrown),
    );
  }

  get isWorking(): boolean {
    return (this.#worker?.load ?? 0) > 0;
  }

  async call(): Promise<never> {
    throw new FlintError("unsupported", "A worker only runs tasks. Ask the server that adds them.");
  }

  drain(milliseconds: number): Promise<void> {
    this.#draining ??= (this.#worker?.drain(milliseconds) ?? Promise.resolve()).then(() => this.#end());
    return this.#draining;
  }

  close(): Promise<void> {
    return this.drain(0);
  }

  async #start(): Promise<void> {
    const { redis: url, namespace, affinityMs = AFFINITY_MS, ...settings } = this.#settings;
    const { onProblem, now } = this.#parts;
    const {
      BullQueue,
      Dispatcher,
      Fences,
      FleetWorker: Worker,
      EventStream,
      projectOf,
      steerTurn,
      taskVerifier,
      RedisStore,
      WorkerRegistry,
      closeWhileAnswering,
    } = await import("@flint/tasks/fleet");
    const store = await RedisStore.open({ url, namespace, version: VERSION });
    const leaseMs = settings.leaseMs ?? LEASE_MS;
    const fences = await Fences.open(join(this.#parts.root, "tasks", "fences.jsonl"));
    const queue = await BullQueue.open({ url, namespace, lockMs: leaseMs, onProblem });
    const workers = new WorkerRegistry(store);
    const context = () => ({ now: now(), random: Math.random(), id: () => mintId() });
    const news = new EventStream({ ...settings.events, redis: store.connection, onProblem });
    const cloneOf: CloneOf = (spec) => {
      const project = projectOf(spec, settings.ceiling.projects);
      return project === undefined
        ? { cwd: spec.cwd, url: spec.remote?.url }
        : { cwd: project.folder, url: project.url };
    };
    const trusted = new Set(this.#settings.trusted);
    const verify = taskVerifier(store, { namespace, trusted });
    const { workspaces, run, client, cleaner } = await runParts(
      { ...this.#parts, cloneOf, verify, defaultModel: settings.ceiling.defaultModel },
      ...([store, context, news] as const),
    );
    const shared = { store, queue, workers, leaseMs, context, onProblem };
    const dispatcher = new Dispatcher({ ...shared, affinityMs });
    const worker = new Worker({
      onDrain: () => this.#onDrain(),
      steer: (state, content) => steerTurn(client, state, content, settings.name),
      ...{
        ...settings,
        ...shared,
        workspaces,
        run,
        fences,
        namespace,
        version: VERSION,
        trusted,
      },
    });
    const close = async () => {
      await cleaner.stop();
      await news.close();
      await dispatcher.stop();
      await queue.close();
      await store.close();
    };
    this.#end = () => closeWhileAnswering({ store, queue }, close).finally(() => fences.close());
    // Expected: another worker has its name.
    try {
      await worker.start();
    } catch (thrown) {
      await this.#end();
      throw thrown;
    }
    this.#worker = worker;
    dispatcher.start();
    cleaner.wake();
  }
}
