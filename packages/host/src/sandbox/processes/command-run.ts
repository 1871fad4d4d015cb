import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { LaunchResult, LaunchSpec } from "@flint/core/ports";
import { KERNEL_MS, ProcessTree, type RunSpec } from "./process-tree.ts";

/** How long a command may take to end by itself after it was asked to. */
export const GRACE_MS = 200;

type Wish = Pick<LaunchSpec, "onOutput" | "timeoutMs" | "signal">;

/** One command from its start to the moment when nothing of it is left and all its output was told. */
export class CommandRun {
  readonly #spec: RunSpec;
  readonly #wish: Wish;
  #tree: ProcessTree | undefined;
  #ended: LaunchResult["ended"] = "exited";
  /** What was said before the command began: by whoever arranges its namespace. Undefined from then on. */
  #early: Parameters<LaunchSpec["onOutput"]>[] | undefined = [];
  readonly #timers: (() => void)[] = [];

  constructor(spec: RunSpec, wish: Wish) {
    this.#spec = spec;
    this.#wish = wish;
  }

  /** Runs it. Never rejects: what cannot be started ends like a command that failed. */
  async result(): Promise<LaunchResult> {
    const result = await this.#measured();
    this.#tellEarly();
    return result;
  }

  /** As `result`; but undefined, with nothing told, if its namespace could not be arranged and nothing was run. */
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
    // Expected: arguments that no program can be given.
    try {
      this.#tree = new ProcessTree(this.#spec, "ignore");
    } catch (thrown) {
      return this.#couldNotStart(thrown instanceof Error ? thrown.message : String(thrown));
    }
    const abort = () => this.#stop("aborted");
    this.#wish.signal?.addEventListener("abort", abort, { once: true });
    if (this.#wish.timeoutMs !== undefined) this.#later(this.#wish.timeoutMs, () => this.#stop("timedOut"));
    try {
      return await this.#watch(this.#tree);
    } finally {
      this.#wish.signal?.removeEventListener("abort", abort);
      for (const cancel of this.#timers) cancel();
    }
  }

  async #watch(tree: ProcessTree): Promise<number> {
    const closed = Promise.all([
      this.#follow(tree.child.stdout, "stdout"),
      this.#follow(tree.stderr, "stderr"),
    ]);
    void tree.begun.then((begun) => begun && this.#tellEarly());
    const { exitCode, failure } = await tree.gone;
    if (failure !== undefined) return this.#couldNotStart(failure.message);
    if (tree.wasKilled || this.#ended !== "exited" || (await tree.begun)) this.#tellEarly();
    // The output of the command itself is in by then.
    if (tree.wasSearchedFor) this.#later(KERNEL_MS, () => tree.closePipes());
    await closed;
    return exitCode;
  }

  #follow(stream: Readable | null | undefined, name: "stdout" | "stderr"): Promise<void> {
    const decoder = new StringDecoder("utf8");
    const tell = (text: string) => {
      if (text !== "") this.#tell(text, name);
    };
    stream?.on("data", (chunk: Buffer) => tell(decoder.write(chunk)));
    return new Promise((resolve) => {
      if (stream == null) return resolve();
      stream.once("error", () => stream.destroy());
      stream.once("close", () => {
        tell(decoder.end());
        resolve();
      });
    });
  }

  #couldNotStart(reason: string): number {
    this.#tellEarly();
    this.#tell(`flint: the command could not be started: ${reason}\n`, "stderr");
    return 126;
  }

  #tell(...said: Parameters<LaunchSpec["onOutput"]>): void {
    if (this.#early === undefined) this.#wish.onOutput(...said);
    else this.#early.push(said);
  }

  #tellEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const said of early) this.#wish.onOutput(...said);
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
