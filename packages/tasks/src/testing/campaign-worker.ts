import { appendFileSync } from "node:fs";
import { mintId } from "@flint/protocol";
import { Dispatcher } from "../fleet/dispatcher.ts";
import { FleetWorker } from "../fleet/fleet-worker.ts";
import { WorkerRegistry } from "../fleet/worker-registry.ts";
import { BullQueue } from "../queue/bull/bull-queue.ts";
import { RedisStore } from "../store/redis/redis-store.ts";

/**
 * A worker as a process that a test may kill. Its runs write two lines with their fence into a ledger, as effects of
 * an agent, and end the task.
 */
const [url = "", name = "", key = "", ledger = "", lease = "1000", work = "100"] = process.argv.slice(2);
const [leaseMs, workMs] = [Number(lease), Number(work)];
const store = await RedisStore.open({ url, namespace: "campaign", version: "0" });
const queue = await BullQueue.open({ url, namespace: "campaign", lockMs: leaseMs });
const workers = new WorkerRegistry(store);
const context = () => ({ now: Date.now(), random: Math.random(), id: () => mintId() });
const onProblem = () => {};
const shared = { store, queue, workers, leaseMs, context, onProblem };
const worker = new FleetWorker({
  ...{ ...shared, name, namespace: "campaign", version: "0", concurrency: 4, now: Date.now },
  ...{ places: { prepare: async () => ({ kind: "unable", message: "", mayPass: false }) } },
  ceiling: { folders: ["/"], merge: ["none"], network: false, acceptApprovals: false },
  trusted: new Set([key]),
  run: async (held, state, signal) => {
    appendFileSync(ledger, `start ${state.id} ${held.fence}\n`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, workMs);
      const stop = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", stop, { once: true });
    });
    if (signal.aborted) return;
    const events = [{ type: "task/ended", data: { status: "done" } }] as const;
    const { status } = await store.commit({ task: state.id, expect: state.version, lease: held, events });
    appendFileSync(ledger, `${status === "ok" ? "end" : "refused"} ${state.id} ${held.fence}\n`);
  },
});
new Dispatcher({ ...shared, affinityMs: 0 }).start();
await worker.start();
process.stdout.write("ready\n");
