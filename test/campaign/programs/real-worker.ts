import { join } from "node:path";
import { embed } from "@flint/server";
import { endQuietly, NAMESPACE, readOrder } from "../processes/worker-order.ts";

// A worker as a process that may be killed, with the real Claude and Codex on the offline model of its own, on loopback.
// Argument: the order as JSON.
const { url: redis, name, key, leaseMs, place = "" } = readOrder(process.argv[2]);
endQuietly(name);
const ceiling = { folders: [place], merge: ["branch" as const], network: false, allowTools: false };
const fleet = { redis, namespace: NAMESPACE, leaseMs, affinityMs: 0 };
await new Promise<unknown>((onReady, onFailed) => {
  const worker = { ...fleet, name, concurrency: 1, ceiling, trusted: [key], onReady, onFailed };
  const root = join(place, name);
  void embed({ root, cwd: place, model: "claude", offlineAgents: true, tasks: { askMs: 200, worker } });
});
process.stdout.write("ready\n");
