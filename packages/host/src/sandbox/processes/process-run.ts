import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { RunningProcess } from "@flint/core/ports";
import { errorMessage, FlintError } from "@flint/protocol";
import { FIRST_PROCESS } from "../mechanisms/launch.ts";
import { isOutputOpen } from "./open-output.ts";
import { KERNEL_MS, ProcessTree, pipesOf, type RunSpec } from "./process-tree.ts";

/** Time within which a program must shut down after SIGTERM. */
export const STOP_GRACE_MS = 2000;

/**
 * A program that runs until it exits or is stopped, with its three streams. Output that is not read by the end of the
 * program is dropped.
 */
export class ProcessRun implements RunningProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<{ readonly exitCode: number }>;
  readonly #tree: ProcessTree;
  readonly #clock: RunSpec["clock"];
  #stopping: Promise<void> | undefined;

  private constructor(
    tree: ProcessTree,
    streams: Streams,
    clock: RunSpec["clock"],
    release: () => Promise<void>,
  ) {
    this.#tree = tree;
    this.#clock = clock;
    this.stdin = streams.stdin;
    this.stdout = streams.stdout;
    this.stderr = streams.stderr;
    this.exited = tree.ended.then(async ({ exitCode }) => {
      await release();
      return { exitCode };
    });
    // Writing to a program that has just ended must not crash the server; `exited` reports it.
    for (const stream of Object.values(streams)) stream.on("error", () => undefined);
  }

  /**
   * Resolves when the program runs; `release` is called when none of its processes is left. Rejects with `agentFailed` if
   * it cannot be started, without calling `release`.
   */
  static async start(spec: RunSpec, name: string, release: () => Promise<void>): Promise<ProcessRun> {
    const { tree, streams } = await spawned(spec, name);
    return new ProcessRun(tree, streams, spec.clock, release);
  }

  /** Like `start`, but undefined, without calling `release`, if the sandbox could not be set up and nothing ran. */
  static async attempt(
    spec: RunSpec,
    name: string,
    release: () => Promise<void>,
  ): Promise<ProcessRun | undefined> {
    const { tree, streams } = await spawned(spec, name);
    if (await tree.started) return new ProcessRun(tree, streams, spec.clock, release);
    for (const stream of Object.values(streams)) stream.on("error", () => undefined).destroy();
    await tree.ended;
    return undefined;
  }

  isOutputOpen(): boolean {
    const { pid } = this.#tree.child;
    return pid === undefined || isOutputOpen(pid, (commandLine) => commandLine.includes(FIRST_PROCESS));
  }

  stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async #stop(graceMs: number): Promise<void> {
    this.stdin.end();
    this.#tree.stop(graceMs);
    await this.exited;
    // Its last output can still be read; a process that holds the pipes longer is not part of it.
    this.#clock.after(KERNEL_MS, () => this.#tree.closePipes());
  }
}

interface Streams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

async function spawned(spec: RunSpec, name: string): Promise<{ tree: ProcessTree; streams: Streams }> {
  // Expected: arguments that cannot be passed to a program, or a wrapper that was removed.
  try {
    const tree = new ProcessTree(spec, "pipe");
    const [stdin, stdout] = pipesOf(tree.child);
    const { stderr } = tree;
    if (stdin == null || stdout == null || stderr == null) throw (await tree.ended).failure;
    await once(tree.child, "spawn");
    return { tree, streams: { stdin, stdout, stderr } };
  } catch (thrown) {
    const reason = errorMessage(thrown);
    throw new FlintError("agentFailed", `${name} could not be started: ${reason}`, { command: name });
  }
}
