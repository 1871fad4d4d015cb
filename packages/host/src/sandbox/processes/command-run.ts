import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { LaunchResult, LaunchSpec } from "@flint/core/ports";
import { errorMessage } from "@flint/protocol";
import { KERNEL_MS, ProcessTree, type RunSpec } from "./process-tree.ts";

/** Time within which a command must end after SIGTERM. */
export const GRACE_MS = 200;

type RunOptions = Pick<LaunchSpec, "onOutput" | "timeoutMs" | "signal">;

/** Runs one command until none of its processes is left and all its output was emitted. */
export class CommandRun {
  readonly #spec: RunSpec;
  readonly #options: RunOptions;
  #tree: ProcessTree | undefined;
  #ended: LaunchResult["ended"] = "exited";
  /** Output of the wrapper from before the command started; undefined from then on. */
  #early: Parameters<LaunchSpec["onOutput"]>[] | undefined = [];
  readonly #timers: (() => void)[] = [];

  constructor(spec: RunSpec, options: RunOptions) {
    this.#spec = spec;
    this.#options = options;
  }

  /** Runs it. Never rejects: a command that cannot be started ends as a failed one. */
  async result(): Promise<LaunchResult> {
    const result = await this.#measured();
    this.#flushEarly();
    return result;
  }

  /** Like `result`, but undefined, without any output, if the sandbox could not be set up and nothing ran. */
  async attempt(): Promise<LaunchResult | undefined> {
    const result = await this.#measured();
    return this.#early === undefined ? result : undefined;
  }

  async #measured(): Promise<LaunchResult> {
    const startedAt = this.#spec.clock.now();
    const exitCode = await this.#run();
    return { exitCode, durationMs: this.#spec.clock.now() - startedAt, ended: this.#ended };
  }

  async #run(): Promise<number> {
    // Expected: arguments that cannot be passed to a program.
    try {
      this.#tree = new ProcessTree(this.#spec, "ignore");
    } catch (thrown) {
      return this.#couldNotStart(errorMessage(thrown));
    }
    const abort = () => this.#stop("aborted");
    this.#options.signal?.addEventListener("abort", abort, { once: true });
    if (this.#options.timeoutMs !== undefined)
      this.#later(this.#options.timeoutMs, () => this.#stop("timedOut"));
    try {
      return await this.#watch(this.#tree);
    } finally {
      this.#options.signal?.removeEventListener("abort", abort);
      for (const cancel of this.#timers) cancel();
    }
  }

  async #watch(tree: ProcessTree): Promise<number> {
    const closed = Promise.all([this.#read(tree.child.stdout, "stdout"), this.#read(tree.stderr, "stderr")]);
    void tree.started.then((begun) => begun && this.#flushEarly());
    const { exitCode, failure } = await tree.ended;
    if (failure !== undefined) return this.#couldNotStart(failure.message);
    if (tree.wasKilled || this.#ended !== "exited" || (await tree.started)) this.#flushEarly();
    // The output of the command itself has arrived by then.
    if (tree.wasSearchedFor) this.#later(KERNEL_MS, () => tree.closePipes());
    await closed;
    return exitCode;
  }

  #read(stream: Readable | null | undefined, name: "stdout" | "stderr"): Promise<void> {
    const decoder = new StringDecoder("utf8");
    const emit = (text: string) => {
      if (text !== "") this.#emit(text, name);
    };
    stream?.on("data", (chunk: Buffer) => emit(decoder.write(chunk)));
    return new Promise((resolve) => {
      if (stream == null) return resolve();
      stream.once("error", () => stream.destroy());
      stream.once("close", () => {
        emit(decoder.end());
        resolve();
      });
    });
  }

  #couldNotStart(reason: string): number {
    this.#flushEarly();
    this.#emit(`flint: the command could not be started: ${reason}\n`, "stderr");
    return 126;
  }

  #emit(...output: Parameters<LaunchSpec["onOutput"]>): void {
    if (this.#early === undefined) this.#options.onOutput(...output);
    else this.#early.push(output);
  }

  #flushEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const output of early) this.#options.onOutput(...output);
  }

  #stop(why: "timedOut" | "aborted"): void {
    if (this.#ended !== "exited" || this.#tree === undefined || this.#tree.hasExited) return;
    this.#ended = why;
    this.#tree.stop(GRACE_MS);
  }

  #later(milliseconds: number, action: () => void): void {
    this.#timers.push(this.#spec.clock.after(milliseconds, action));
  }
}
