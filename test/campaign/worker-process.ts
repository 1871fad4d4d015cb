import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bundleModules } from "../../scripts/build/library.mjs";
import { ROOT } from "../source/files.ts";
import type { WorkerOrder } from "./worker-order.ts";

/** Builds the program of a worker into a folder, because many are started; returns its path. */
export async function buildWorker(folder: string): Promise<string> {
  await bundleModules(ROOT, { worker: "./test/campaign/worker.ts" }, folder, { extension: ".mjs" });
  return join(folder, "worker.mjs");
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A worker in a process of its own, which can be killed or stopped at any moment. */
export class WorkerProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.#exited = once(child, "exit").finally(() => running.delete(child));
  }

  /** Starts the program that was built; resolves once it takes runs. */
  static async start(program: string, order: WorkerOrder): Promise<WorkerProcess> {
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    running.add(child);
    const worker = new WorkerProcess(order.name, child);
    const early = worker.#exited.then(() => {
      throw new Error(`Worker ${order.name} ended before it was ready.`);
    });
    await Promise.race([once(child.stdout, "data"), early]);
    return worker;
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#child.kill("SIGCONT");
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Stops it as a machine that hangs does, until `resume`. */
  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }
}
