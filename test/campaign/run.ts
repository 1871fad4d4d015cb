import { parseArgs } from "node:util";
import { errorMessage } from "@flint/protocol";
import { agentFolder, temporaryFolder } from "@flint/testkit";
import { Random } from "../../packages/tasks/src/testing/random.ts";
import { playCampaign } from "./campaign.ts";
import { chooseFaults } from "./faults.ts";
import { describeFaults, renderReport } from "./report.ts";

// Plays a campaign against a fleet of real processes on a real Redis, and exits with 1 if anything promised was broken.
// npm run campaign [-- --tasks 500] [--faults 200] [--workers 3] [--seed 1] [--agents | --real]
// With --real, Claude and Codex do the work and review it, on the offline model: 24 tasks, 12 faults and 2 workers.
const FULL = { tasks: "500", faults: "200", workers: "3" };
const REAL = { tasks: "24", faults: "12", workers: "2" };

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      tasks: { type: "string" },
      faults: { type: "string" },
      workers: { type: "string" },
      seed: { type: "string", default: "1" },
      agents: { type: "boolean", default: false },
      real: { type: "boolean", default: false },
    },
  });
  const usual = values.real ? REAL : FULL;
  const tasks = numberOf("tasks", values.tasks ?? usual.tasks, 1);
  const count = numberOf("faults", values.faults ?? usual.faults, 1);
  const workers = numberOf("workers", values.workers ?? usual.workers, 1);
  const seed = numberOf("seed", values.seed, 0);
  const agents = values.real ? "real" : values.agents ? "scripted" : undefined;
  const faults = chooseFaults(new Random(seed), count);
  console.log(`${tasks} tasks, ${workers} workers, seed ${seed}: ${describeFaults(faults)}`);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  // The sandbox, in which tasks check out their files, covers the temporary folder of the system.
  await using folder = agents !== undefined ? await agentFolder() : await temporaryFolder();
  const onProgress = (line: string) => console.log(`${String(seconds()).padStart(5)} s  ${line}`);
  const invariants = await playCampaign({
    agents,
    tasks,
    workers,
    faults,
    seed,
    folder,
    onProgress,
  });
  console.log(`\n${renderReport(invariants)}\n${seconds()} s`);
  return invariants.every(({ breaches }) => breaches.length === 0) ? 0 : 1;
}

function numberOf(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} takes a whole number from ${least} on, not ${JSON.stringify(text)}.`);
}

// What a campaign started is ended at the exit of this process, which a signal alone would leave out.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
try {
  process.exitCode = await main();
} catch (thrown) {
  // A wrong option, no Redis, or a campaign that came to a halt: the message says which.
  console.error(errorMessage(thrown));
  process.exitCode = 1;
}
