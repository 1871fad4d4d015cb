import { mintId } from "@flint/protocol";
import { BullQueue, Dispatcher, FleetWorker, RedisStore, WorkerRegistry } from "@flint/tasks/fleet";
import { Ledger } from "../ledger.ts";
import { endQuietly, NAMESPACE, POISON, readOrder } from "../processes/worker-order.ts";

// A worker as a process that may be killed. Its runs take a while, write with their fence into a ledger what an agent
// would have done to the world, and end the task. Argument: the order as JSON.
const { url, name, key, ledger: path, leaseMs, workMs } = readOrder(process.argv[2]);
endQuietly(name);
const ledger = new Ledger(path);
const store = await RedisStore.open({ url, namespace: NAMESPACE, version: "0" });
const queue = await BullQueue.open({ url, namespace: NAMESPACE, lockMs: leaseMs });
const workers = new WorkerRegistry(store);
const context = () => ({ now: Date.now(), random: Math.random(), id: () => mintId() });
const onProblem = () => {};
const shared = { store, queue, workers, leaseMs, context, onProblem };
const worker = new FleetWorker({
  ...{ ...shared, name, namespace: NAMESPACE, version: "0", concurrency: 4, now: Date.now },
  ...{
    workspaces: {
      prepare: async () => ({ kind: "unable", message: "", mayPass: false }),
      remotes: async () => [],
    },
  },
  ceiling: { folders: ["/"], merge: ["none"], network: false, allowTools: false },
  trusted: new Set([key]),
  run: async (lease, { id: task, version, spec }, signal) => {
    ledger.add("start", lease);
    if (spec.title.startsWith(POISON)) process.kill(process.pid, "SIGKILL");
    const used = { type: "run/used", data: { usage: { seconds: 0 } } } as const;
    const first = await store.commit({ task, expect: version, lease, events: [used] });
    if (first.status !== "ok") return ledger.add("refused", lease);
    await workUntil(signal);
    if (signal.aborted) return;
    const ended = { type: "task/ended", data: { status: "done" } } as const;
    const { status } = await store.commit({ task, expect: first.state.version, lease, events: [ended] });
    ledger.add(status === "ok" ? "end" : "refused", lease);
  },
});

/** The work itself, which ends early when the run is stopped. */
function workUntil(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, workMs);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}

new Dispatcher({ ...shared, affinityMs: 0 }).start();
await worker.start();
process.stdout.write("ready\n");
