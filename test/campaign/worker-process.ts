import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bundleModules } from "../../scripts/build/library.mjs";
import { ROOT } from "../source/files.ts";
import type { WorkerOrder } from "./worker-order.ts";

/** The programs of a campaign, by their paths. */
export interface CampaignPrograms {
  readonly worker: string;
  /** A worker with a scripted agent. */
  readonly agentWorker: string;
  readonly server: string;
}

/** Builds the programs into a folder, because many of them are started. */
export async function buildPrograms(folder: string): Promise<CampaignPrograms> {
  const names = ["worker", "agent-worker", "server"] as const;
  const input = Object.fromEntries(names.map((name) => [name, `./test/campaign/${name}.ts`]));
  await bundleModules(ROOT, input, folder, { extension: ".mjs" });
  const [worker, agentWorker, server] = names.map((name) => join(folder, `${name}.mjs`));
  return { worker: worker ?? "", agentWorker: agentWorker ?? "", server: server ?? "" };
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Kills a process when this one exits. */
export function endWithThisProcess(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

/** A worker in a process of its own, which can be killed or stopped at any moment. */
export class WorkerProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  /** Resolves once the process has ended, however that came. */
  readonly exited: Promise<unknown>;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.exited = once(child, "exit");
  }

  /** Starts the program that was built; resolves once it takes runs. */
  static async start(program: string, order: WorkerOrder): Promise<WorkerProcess> {
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    endWithThisProcess(child);
    const worker = new WorkerProcess(order.name, child);
    const early = worker.exited.then(() => {
      throw new Error(`Worker ${order.name} ended before it was ready.`);
    });
    await Promise.race([once(child.stdout, "data"), early]);
    return worker;
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#child.kill("SIGCONT");
    this.#child.kill("SIGKILL");
    await this.exited;
  }

  /** Stops it as a machine that hangs does, until `resume`. */
  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }
}
