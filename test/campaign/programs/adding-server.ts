import { mintId, type TaskState } from "@flint/protocol";
import {
  AcceptedFile,
  BullQueue,
  Dispatcher,
  RedisStore,
  TaskBackup,
  TaskSigner,
  WorkerRegistry,
} from "@flint/tasks/fleet";
import { testSpec } from "../../../packages/tasks/src/testing/spec.ts";
import { type AddingServerOptions, AGENT, NAMESPACE } from "../processes/worker-order.ts";
import { realTask } from "../real-tasks.ts";

const CHECK_MS = 500;
const PAUSE_MS = 50;

/** The parts of a Flint server that add tasks to a fleet, keep them until they have ended, and schedule. */
export class AddingServer {
  readonly store: RedisStore;
  /** The tasks as it last saw them, also after Redis has lost those that have ended. */
  readonly states = new Map<string, TaskState>();
  readonly #queue: BullQueue;
  readonly #dispatcher: Dispatcher;
  readonly #backup: TaskBackup;
  readonly #file: AcceptedFile;
  /** The key that workers have to trust. */
  readonly publicKey: string;
  readonly #repository: string | undefined;
  readonly #isReal: boolean;
  #isClosed = false;

  private constructor(
    parts: { store: RedisStore; queue: BullQueue; file: AcceptedFile; publicKey: string },
    { leaseMs, repository, isReal = false }: AddingServerOptions,
  ) {
    this.#repository = repository;
    this.#isReal = isReal;
    const { store, queue, file, publicKey } = parts;
    const onProblem = () => {};
    const context = () => ({ now: Date.now(), random: Math.random(), id: () => mintId() });
    const workers = new WorkerRegistry(store);
    this.store = store;
    this.publicKey = publicKey;
    store.subscribe(({ state }) => this.states.set(state.id, state));
    this.#queue = queue;
    this.#file = file;
    this.#dispatcher = new Dispatcher({
      ...{ store, queue, workers, leaseMs, affinityMs: 0, context, onProblem },
    });
    this.#backup = new TaskBackup({
      ...{ store, stored: file.stored, checkMs: CHECK_MS, onProblem },
      persist: (tasks) => file.append(tasks),
    });
    this.#dispatcher.start();
    this.#backup.start();
  }

  static async open(options: AddingServerOptions): Promise<AddingServer> {
    const { url, leaseMs } = options;
    const signer = TaskSigner.fromPem(options.signingKey ?? TaskSigner.generate());
    const store = await RedisStore.open({
      ...{ url, namespace: NAMESPACE, version: "0" },
      sign: (id, { spec, by }) => signer.sign({ namespace: NAMESPACE, id, by, spec }),
    });
    const queue = await BullQueue.open({ url, namespace: NAMESPACE, lockMs: leaseMs });
    const file = await AcceptedFile.open(options.accepted);
    return new AddingServer({ store, queue, file, publicKey: signer.publicKey }, options);
  }

  /** Adds a task, again if that fails, and returns its id once it is acknowledged. */
  async add(key: string): Promise<string> {
    const cwd = this.#repository;
    const roles = this.#isReal ? realTask(key) : { executors: [{ model: AGENT }], reviewers: [] };
    const spec = testSpec({
      ...{
        title: key,
        cwd: cwd ?? "/",
        approvedBy: "reviewer",
        merge: cwd === undefined ? "none" : "branch",
      },
      ...(cwd === undefined ? {} : roles),
    });
    for (;;) {
      // Expected: Redis lost the task before it was stored here, so it is not acknowledged.
      try {
        const { id } = await this.store.add({ spec, by: "ann", waiting: false, key });
        await this.#backup.accept([id]);
        return id;
      } catch (thrown) {
        if (this.#isClosed) throw thrown;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** Brings its own copies up to date. */
  check(): Promise<void> {
    return this.#backup.check();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#backup.stop();
    await this.#dispatcher.stop();
    await this.#queue.close();
    await this.store.close();
    this.#file.close();
  }
}
