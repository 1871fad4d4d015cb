import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { embed } from "@flint/server";
import { Gate, scriptedDriver } from "@flint/testkit";
import { AGENT, endQuietly, NAMESPACE, RESULT_FILE, readOrder } from "../processes/worker-order.ts";

// A worker as a process that may be killed, with a real engine, real worktrees and a scripted agent. The agent writes the
// name of its worker when its turn starts and, whatever became of the turn, again some time later, as an agent does that
// no one could stop. Argument: the order as JSON.
const { url: redis, name, key, leaseMs, workMs, place = "" } = readOrder(process.argv[2]);
endQuietly(name);
const driver: ReturnType<typeof scriptedDriver> = scriptedDriver({
  id: AGENT,
  scripts: () => {
    const file = join(driver.sessions.at(-1)?.settings.cwd ?? "", RESULT_FILE);
    const gate = new Gate();
    writeFileSync(file, `${name} began\n`);
    setTimeout(() => {
      writeFileSync(file, `${name}\n`);
      gate.open();
    }, workMs);
    return [{ wait: gate }, { text: "done" }];
  },
});
const ceiling = { folders: [place], merge: ["branch" as const], network: false, allowTools: false };
const fleet = { redis, namespace: NAMESPACE, leaseMs, affinityMs: 0 };
await new Promise<unknown>((onReady, onFailed) => {
  const worker = { ...fleet, name, concurrency: 1, ceiling, trusted: [key], onReady, onFailed };
  void embed({ root: join(place, name), cwd: place, drivers: [driver], tasks: { worker } });
});
process.stdout.write("ready\n");
