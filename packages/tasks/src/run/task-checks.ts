import { existsSync } from "node:fs";
import {
  type Check,
  type CheckResult,
  errorMessage,
  type NetworkPermission,
  type Result,
  type SandboxPolicyInput,
  type TaskState,
  type ThreadTask,
  taskVariables,
} from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import type { CheckOutcome, MergeOutcome } from "../decide/outcomes.ts";
import type { TaskWorkspaces } from "./task-workspaces.ts";

const CHECK_SECONDS = 1800;
const CHECK_OUTPUT = 8000;
const FIRST_PORT = 20_000;
const PORTS = 10;
const RANGES = 4_000;

/** Runs the commands of a task that are not an agent's: its set-up and its checks, in the sandbox of the server. */
export class TaskChecks {
  readonly #client: FlintClient;
  readonly #workspaces: Pick<TaskWorkspaces, "isSetUp" | "markSetUp">;
  readonly #signal: AbortSignal;

  constructor(
    client: FlintClient,
    workspaces: Pick<TaskWorkspaces, "isSetUp" | "markSetUp">,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#workspaces = workspaces;
    this.#signal = signal;
  }

  /** Runs the set-up command in the folder of an attempt; the problem, if there is one. */
  async setUp(state: TaskState, folder: string): Promise<string | undefined> {
    const problem = await this.#setUp(state, folder);
    if (problem === undefined && state.spec.setup !== undefined) await this.#workspaces.markSetUp(state);
    return problem;
  }

  /** The same before a step in a folder that was made again in the middle of the attempt, such as on another machine. */
  async setUpAgain(state: TaskState): Promise<string | undefined> {
    const { step, folder, spec } = state;
    if (spec.setup === undefined || folder === undefined || !existsSync(folder)) return undefined;
    if ((step !== "execute" && step !== "check") || (await this.#workspaces.isSetUp(state))) return undefined;
    return this.setUp(state, folder);
  }

  async #setUp(state: TaskState, folder: string): Promise<string | undefined> {
    const { setup } = state.spec;
    if (setup === undefined) return undefined;
    const ran = await this.#run(state, [setup], folder);
    if (ran.kind === "unable") return `The set-up could not run: ${ran.message}`;
    const [result] = ran.results;
    if (result?.exitCode === 0) return undefined;
    const how = result?.timedOut === true ? "did not end in time" : `exited with ${result?.exitCode}`;
    const parts = [
      `The set-up command ${setup.command} ${how}.`,
      result?.stopped,
      result?.output.slice(-1000),
    ];
    return parts.filter((part) => (part ?? "") !== "").join(" ");
  }

  /** Runs the checks of the task in a folder, up to the first that fails. */
  async run(state: TaskState, folder: string): Promise<CheckOutcome> {
    return this.#run(state, state.spec.checks, folder);
  }

  /**
   * Returns the problem that keeps the merged result, checked out in this folder, from being used; undefined
   * if there is none.
   */
  async problemOfMerged(state: TaskState, folder: string): Promise<MergeOutcome | undefined> {
    const message = await this.#setUp(state, folder);
    if (message !== undefined) return { kind: "unable", mayPass: false, message };
    const checked = await this.run(state, folder);
    if (checked.kind === "unable") return { ...checked, mayPass: false };
    const isPassed = checked.results.every(({ exitCode }) => exitCode === 0);
    return isPassed ? undefined : { kind: "checksFailed", results: checked.results };
  }

  async #run(state: TaskState, checks: readonly Check[], folder: string): Promise<CheckOutcome> {
    const results: CheckResult[] = [];
    for (const check of checks) {
      // Expected: the sandbox cannot be built, or the folder is gone.
      try {
        results.push(await this.#runOne(state, check, folder));
      } catch (thrown) {
        return { kind: "unable", message: errorMessage(thrown) };
      }
      if (results.at(-1)?.exitCode !== 0) break;
    }
    return { kind: "ran", results };
  }

  async #runOne(
    state: TaskState,
    { name, command, timeoutSeconds = CHECK_SECONDS }: Check,
    folder: string,
  ): Promise<CheckResult> {
    const started = Date.now();
    const {
      exitCode,
      stdout,
      stderr,
      timedOut,
      denials = [],
    } = await this.#client.call(
      "command/exec",
      {
        command: ["/usr/bin/env", ...variablesOf(state), "/bin/sh", "-c", command],
        cwd: folder,
        sandboxPolicy: checkPolicy(state.spec.network),
        timeoutMs: timeoutSeconds * 1000,
      },
      { signal: this.#signal },
    );
    const output = `${stdout}${stderr}`.slice(-CHECK_OUTPUT);
    const seconds = (Date.now() - started) / 1000;
    const stopped = exitCode === 0 ? {} : stoppedBy(denials);
    return { name: name ?? command, exitCode, timedOut, seconds, output, ...stopped };
  }
}

/** The first of ten ports that an attempt may use without meeting those of the other attempts on this machine. */
function portBase({ number, attempt }: Pick<TaskState, "number" | "attempt">): number {
  return FIRST_PORT + ((number * 10 + attempt - 1) % RANGES) * PORTS;
}

/** The task as its threads know it. */
export function threadTask(state: Pick<TaskState, "id" | "number" | "attempt">): ThreadTask {
  return { taskId: state.id, portBase: portBase(state) };
}

/** Returns the environment variables of a task's set-up command and checks: the same as for its agents. */
function variablesOf(state: Pick<TaskState, "id" | "number" | "attempt">): string[] {
  return Object.entries(taskVariables(threadTask(state))).map(([name, value]) => `${name}=${value}`);
}

/**
 * Returns the reason a command failed that the sandbox stopped. No one is asked about it, so the option is
 * named that allows it.
 */
export function stoppedBy(denials: Denials): { readonly stopped?: string } {
  const [first] = denials;
  if (first === undefined) return {};
  if (denials.some(({ needs }) => needs?.network !== undefined))
    return {
      stopped:
        "The sandbox has no network for it. Add the task with --network all (network: all in a file) to allow it.",
    };
  return {
    stopped: denials
      .map(({ evidence }) => evidence)
      .join(" ")
      .slice(0, MAX_STOPPED),
  };
}

type Denials = NonNullable<Result<"command/exec">["denials"]>;
const MAX_STOPPED = 1000;

/** The sandbox of checks: the network is open only if the task allows all of it, because no one is asked about single hosts. */
function checkPolicy(network: NetworkPermission | undefined): SandboxPolicyInput {
  return { type: "workspaceWrite", networkAccess: network === "all" };
}
