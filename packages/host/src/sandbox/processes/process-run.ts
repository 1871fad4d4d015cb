import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { RunningProcess } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { KERNEL_MS, ProcessTree, pipesOf, type RunSpec } from "./process-tree.ts";

/** How long a program that was talked to may take to put its things in order after it was asked to end. */
export const STOP_GRACE_MS = 2000;

/**
 * A program that runs until it ends or is stopped, with its three streams for whoever started it. Output that
 * nobody listens to when the program ends is dropped.
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
    this.exited = tree.gone.then(async ({ exitCode }) => {
      await release();
      return { exitCode };
    });
    // Writing to a program that just ended is no reason for this one to end; who writes learns it from `exited`.
    for (const stream of Object.values(streams)) stream.on("error", () => undefined);
  }

  /**
   * Resolves when the program runs; `release` is called when nothing of it is left. Rejects with `agentFailed` if it
   * cannot be started, and then releases nothing.
   */
  static async start(spec: RunSpec, name: string, release: () => Promise<void>): Promise<ProcessRun> {
    const { tree, streams } = await spawned(spec, name);
    return new ProcessRun(tree, streams, spec.clock, release);
  }

  /** As `start`; but undefined, with nothing released, if its namespace could not be arranged and nothing was run. */
  static async attempt(
    spec: RunSpec,
    name: string,
    release: () => Promise<void>,
  ): Promise<ProcessRun | undefined> {
    const { tree, streams } = await spawned(spec, name);
    if (await tree.begun) return new ProcessRun(tree, streams, spec.clock, release);
    for (const stream of Object.values(streams)) stream.on("error", () => undefined).destroy();
    await tree.gone;
    return undefined;
  }

  stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async #stop(graceMs: number): Promise<void> {
    this.stdin.end();
    this.#tree.stop(graceMs);
    await this.exited;
    // What it said last can still be read; who holds the pipes after that is not part of it.
    this.#clock.after(KERNEL_MS, () => this.#tree.closePipes());
  }
}

interface Streams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

async function spawned(spec: RunSpec, name: string): Promise<{ tree: ProcessTree; streams: Streams }> {
  // Expected: arguments that no program can be given, or a wrapper that is gone.
  try {
    const tree = new ProcessTree(spec, "pipe");
    const [stdin, stdout] = pipesOf(tree.child);
    const { stderr } = tree;
    if (stdin == null || stdout == null || stderr == null) throw (await tree.gone).failure;
    await once(tree.child, "spawn");
    return { tree, streams: { stdin, stdout, stderr } };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new FlintError("agentFailed", `${name} could not be started: ${reason}`, { command: name });
  }
}
