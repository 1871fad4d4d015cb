import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { agentProgram, type TemporaryFolder } from "@flint/testkit";
import { bundleModules } from "../../../scripts/build/library.mjs";
import { plainEnvironment } from "../../server/plain-environment.ts";
import { ROOT } from "../../source/files.ts";
import { REAL_AGENTS, type RealAgentName, type WorkerOrder } from "./worker-order.ts";

/** The programs of a campaign, by their paths. */
export interface CampaignPrograms {
  readonly worker: string;
  /** A worker with a scripted agent. */
  readonly agentWorker: string;
  /** A worker with the real Claude and Codex. */
  readonly realWorker: string;
  readonly server: string;
}

/** Builds the programs into a folder, because many of them are started. */
export async function buildPrograms(folder: string): Promise<CampaignPrograms> {
  const names = ["worker", "agent-worker", "real-worker", "server"] as const;
  const input = Object.fromEntries(names.map((name) => [name, `./test/campaign/programs/${name}.ts`]));
  await bundleModules(ROOT, input, folder, { extension: ".mjs" });
  const [worker = "", agentWorker = "", realWorker = "", server = ""] = names.map((name) =>
    join(folder, `${name}.mjs`),
  );
  return { worker, agentWorker, realWorker, server };
}

/** Returns the environment of the workers in place of the user's own. Throws if an agent is missing. */
export function realEnvironment(folder: TemporaryFolder): NodeJS.ProcessEnv {
  const [claude, codex] = REAL_AGENTS.map(programOf);
  const home = folder.path;
  return {
    ...{ ...plainEnvironment(folder.join("state")), HOME: home, XDG_CONFIG_HOME: undefined },
    ...{ CLAUDE_CODE_EXECUTABLE: claude, CODEX_EXECUTABLE: codex },
  };
}

function programOf(name: RealAgentName): string {
  const path = agentProgram(name);
  if (path === undefined)
    throw new Error(`${name} is not there: node scripts/test-setup.mjs looks for it, and fetches it.`);
  return path;
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
  static async start(
    program: string,
    order: WorkerOrder,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<WorkerProcess> {
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...environment },
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
